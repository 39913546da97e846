import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { tryOpenJson, type OpenResult } from '../../../shared/crypto/decrypt-record.ts';
import { personKey, readChatPerson, type ChatPerson } from '../account.ts';
import { type AccountStatus } from '../../domain/account.ts';
import type { PersonId } from '../../domain/ids.ts';

const WHO_PURPOSE = 'link-person';

/** A link as stored in Redis. The plain fields identify no one; the others are encrypted (SECURITY.md plain-fields). */
export interface StoredLink {
  /** Hash of the account within the platform's tenant; also used by the reverse index. */
  accountKey: string;
  /** The encrypted chat user, for callers that know only the key (re-check, conflict). */
  who: string;
  profile: string;
  profileVersion: number;
  /** Empty if no token is stored. */
  tokens: string;
  tokensVersion: number;
  status: AccountStatus;
  linkedAtMs: number;
  /** When the access token becomes stale; 0 if none is stored. */
  refreshAtMs: number;
  lastRefreshAttemptMs: number;
  /** Earliest time of the next refresh after a failed one. */
  notBeforeMs: number;
  failures: number;
  /** When a refresh was first refused for an unknown reason; 0 if never. */
  refusedAtMs: number;
  /** Start of the current period of failed re-checks; 0 if the last one succeeded. */
  unreachableSinceMs: number;
}

export type LinkFields = Partial<StoredLink>;

/** Parses a link's hash; undefined if there is no link. */
export function readStoredLink(hash: Record<string, string>): StoredLink | undefined {
  const { accountKey, who, profile } = hash;
  if (accountKey === undefined || who === undefined || profile === undefined) return undefined;
  const number = (name: keyof StoredLink) => Number(hash[name] ?? 0);
  return {
    accountKey,
    who,
    profile,
    profileVersion: number('profileVersion'),
    tokens: hash['tokens'] ?? '',
    tokensVersion: number('tokensVersion'),
    status: (hash['status'] ?? 'suspended') as AccountStatus,
    linkedAtMs: number('linkedAtMs'),
    refreshAtMs: number('refreshAtMs'),
    lastRefreshAttemptMs: number('lastRefreshAttemptMs'),
    notBeforeMs: number('notBeforeMs'),
    failures: number('failures'),
    refusedAtMs: number('refusedAtMs'),
    unreachableSinceMs: number('unreachableSinceMs'),
  };
}

/** Fields as script arguments: name, value, name, value, … */
export function fieldArguments(fields: LinkFields): string[] {
  return Object.entries(fields).flatMap(([name, value]) => [name, String(value)]);
}

/** Encrypts a chat user for their own link. */
export function sealWho(keyRing: KeyRing, person: ChatPerson): string {
  const { platform, tenant, app, chatUserId, language } = person;
  const who = { platform, tenant, app, chatUserId, language };
  return keyRing.seal(WHO_PURPOSE, personKey(person), JSON.stringify(who));
}

/** Decrypts the result of `sealWho`. `person` is the link's key. */
export function openWho(keyRing: KeyRing, person: PersonId, sealed: string): OpenResult<ChatPerson> {
  return tryOpenJson(() => keyRing.open(WHO_PURPOSE, person, sealed), readChatPerson);
}
