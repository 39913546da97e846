import type { NowMs } from '../../../shared/clock.ts';
import type { Log } from '../../../shared/log.ts';
import { personKey, type ChatPerson, type NotifyPerson } from '../account.ts';
import type { Audit } from '../audit.ts';
import { IdentityError } from '../identity-error.ts';
import type { Links } from '../links/links.ts';
import type { SignInProvider } from '../providers/provider.ts';
import type { KeepTokens } from '../options.ts';
import type { StoredLink } from '../links/stored-link.ts';
import type { IdentityStore } from '../store.ts';
import type { KeptTokens, Vault } from './vault.ts';
import type { PersonId } from '../../domain/ids.ts';

/** Dependencies for reading and refreshing tokens. */
export interface TokenParts {
  store: IdentityStore;
  links: Links;
  vault: Vault;
  dialect: SignInProvider;
  keepTokens: KeepTokens;
  audit: Audit;
  tell: NotifyPerson;
  nowMs: NowMs;
  log: Log;
}

/** A link as read. */
export interface HeldLink {
  key: PersonId;
  person: ChatPerson;
  link: StoredLink;
}

/** A link's tokens as read. */
export interface LinkWithTokens extends HeldLink {
  tokens: KeptTokens;
}

/**
 * @throws IdentityError `sign_in_again` if nothing is left to refresh with or the record cannot be decrypted; `store_away`
 */
export async function readLinkWithTokens(
  { links, vault }: Pick<TokenParts, 'links' | 'vault'>,
  person: ChatPerson,
): Promise<LinkWithTokens> {
  const key = personKey(person);
  const link = await links.read(key);
  if (!link || link.tokens === '' || link.status === 'reauth') throw signInAgain();
  const opened = vault.open({ purpose: 'tokens', person, version: link.tokensVersion }, link.tokens);
  if (opened.kind !== 'opened') throw signInAgain(opened.error);
  return { key, person, link, tokens: opened.value };
}

/** The error for a link without a usable token. */
export function signInAgain(cause?: Error): IdentityError {
  return new IdentityError('sign_in_again', 'There is no usable token; the person must sign in again', { cause });
}
