import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { recordWith, tryOpen, tryOpenJson, type OpenResult } from '../../../shared/crypto/decrypt-record.ts';
import type { ChatPerson } from '../account.ts';
import type { Profile } from '../oauth/profile-response.ts';

/** The provider's name in encrypted records. A deployment has one sign-in service. */
const PROVIDER = 'sign-in-service';

/** The stored tokens of a user. Both are absent once invalid. */
export interface KeptTokens {
  refreshToken?: string;
  accessToken?: string;
  /** The provider's subject of the tokens. OpenID Connect only. */
  subject?: string;
}

/** The result of a completed sign-in, before it is proven whose it is. */
export interface SignedIn {
  profile: Profile;
  tokens: KeptTokens;
  /** Lifetime of the access token, starting at `obtainedAtMs`. */
  lifeMs: number;
  obtainedAtMs: number;
}

interface Contents {
  profile: Profile;
  tokens: KeptTokens;
  quarantine: SignedIn;
}

/**
 * Encrypts records so that each can be decrypted only for its purpose, person and version (SECURITY.md sealed-records). A
 * record copied to another person, or restored from an older version, cannot be decrypted.
 */
export interface Vault {
  seal<Purpose extends keyof Contents>(record: RecordName<Purpose>, content: Contents[Purpose]): string;
  open<Purpose extends keyof Contents>(record: RecordName<Purpose>, sealed: string): OpenResult<Contents[Purpose]>;
  /** Re-encrypts the content with the newest key of the ring. */
  rewrap(record: RecordName<keyof Contents>, sealed: string): OpenResult<string>;
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
  /** The record's version; for a pending sign-in the invitation's hash. */
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
