import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { tryOpenJson, type Opened } from '../../../shared/crypto/decrypt-record.ts';
import { personKey, readChatPerson, type ChatPerson } from '../account.ts';
import { type AccountStatus } from '../../domain/account.ts';
import type { PersonId } from '../../domain/ids.ts';

const WHO_PURPOSE = 'link-person';

/** A link as it stands in Redis: plain fields that identify nobody beside the sealed ones (SECURITY.md plain-fields). */
export interface StoredLink {
  /** Hash of the account within the platform's tenant; the reverse index has the same. */
  accountKey: string;
  /** The chat person, sealed, for whoever comes here by the key alone (re-check, conflict). */
  who: string;
  profile: string;
  profileVersion: number;
  /** Empty when no token is kept. */
  tokens: string;
  tokensVersion: number;
  status: AccountStatus;
  linkedAtMs: number;
  /** When the access token counts as stale; 0 when none is kept. */
  refreshAtMs: number;
  lastRefreshAttemptMs: number;
  /** Before this no refresh is tried, after one failed. */
  notBeforeMs: number;
  failures: number;
  /** When a refresh was first refused for reasons unknown; 0 for never. */
  refusedAtMs: number;
  /** Since when the re-check has not got an answer; 0 when it got one. */
  unreachableSinceMs: number;
}

export type LinkFields = Partial<StoredLink>;

/** A link's hash as Redis gives it; undefined when there is none. */
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

/** Fields as a script's arguments: name, value, name, value, … */
export function fieldArguments(fields: LinkFields): string[] {
  return Object.entries(fields).flatMap(([name, value]) => [name, String(value)]);
}

/** Seals a chat person into its own link. */
export function sealWho(keyRing: KeyRing, person: ChatPerson): string {
  const { platform, tenant, app, chatUserId, language } = person;
  const who = { platform, tenant, app, chatUserId, language };
  return keyRing.seal(WHO_PURPOSE, personKey(person), JSON.stringify(who));
}

/** Opens what `sealWho` made; `person` is the link's key. */
export function openWho(keyRing: KeyRing, person: PersonId, sealed: string): Opened<ChatPerson> {
  return tryOpenJson(() => keyRing.open(WHO_PURPOSE, person, sealed), readChatPerson);
}
