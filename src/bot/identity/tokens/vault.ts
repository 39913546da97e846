import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { recordWith, tryOpen, tryOpenJson, type Opened } from '../../../shared/crypto/decrypt-record.ts';
import type { ChatPerson } from '../account.ts';
import type { Profile } from '../oauth/profile-response.ts';

/** The provider's name within sealed records; one sign-in service a deployment. */
const PROVIDER = 'sign-in-service';

/** The tokens that are kept of a person; both absent once they are dead. */
export interface KeptTokens {
  refreshToken?: string;
  accessToken?: string;
  /** Whose they are, as the provider names them; OpenID Connect only. */
  subject?: string;
}

/** What a finished sign-in brought, before it is proven whose it is. */
export interface SignedIn {
  profile: Profile;
  tokens: KeptTokens;
  /** Life of the access token from `obtainedAtMs` on. */
  lifeMs: number;
  obtainedAtMs: number;
}

interface Contents {
  profile: Profile;
  tokens: KeptTokens;
  quarantine: SignedIn;
}

/**
 * Seals records so that each opens only for its purpose, person and version (SECURITY.md sealed-records): a record copied to
 * another person, or an older version put back, does not open.
 */
export interface Vault {
  seal<Purpose extends keyof Contents>(record: RecordName<Purpose>, content: Contents[Purpose]): string;
  open<Purpose extends keyof Contents>(record: RecordName<Purpose>, sealed: string): Opened<Contents[Purpose]>;
  /** The same content under the ring's newest key. */
  rewrap(record: RecordName<keyof Contents>, sealed: string): Opened<string>;
}

type Readers = { [Purpose in keyof Contents]: (value: unknown) => Contents[Purpose] | undefined };

const READERS: Readers = {
  profile: recordWith('id', 'name'),
  tokens: recordWith(),
  quarantine(value) {
    const brought = recordWith<SignedIn>()(value);
    return brought && READERS.profile(brought.profile) && READERS.tokens(brought.tokens) ? brought : undefined;
  },
};

interface RecordName<Purpose> {
  purpose: Purpose;
  person: ChatPerson;
  /** The record's version, or for the quarantine the ticket's hash. */
  version: number | string;
}

export function createVault(keyRing: KeyRing): Vault {
  return {
    rewrap: (record, sealed) => tryOpen(() => keyRing.rewrapRecord(ownerFields(record), sealed)),
    seal: (record, content) => keyRing.sealRecord(ownerFields(record), JSON.stringify(content)),
    open: <Purpose extends keyof Contents>(record: RecordName<Purpose>, sealed: string) =>
      tryOpenJson(() => keyRing.openRecord(ownerFields(record), sealed), READERS[record.purpose]),
  };
}

function ownerFields({ purpose, person, version }: RecordName<keyof Contents>): string[] {
  const { platform, tenant, app, chatUserId } = person;
  return [purpose, platform, tenant, app, chatUserId, PROVIDER, String(version)];
}
