import { MINUTE_MS, type NowMs } from '../../../shared/clock.ts';
import type { OpenResult } from '../../../shared/crypto/decrypt-record.ts';
import { keys, type IdentityStore } from '../store.ts';
import type { Invitation } from './invitations.ts';
import type { SignedIn, Vault } from '../tokens/vault.ts';
import type { WaitsFor } from '../links/waiting.ts';

/**
 * A completed sign-in of a browser that awaits confirmation (SECURITY.md sealed-until-proven). After the link is created, a
 * remainder is kept for a while so that the page can be shown again. Encrypted for the invited user.
 */
export type PendingSignIn =
  | { kind: 'waiting'; ticketHash: string; sealed: string; expiresAtMs: number }
  /** `waitsFor`: what was waiting when the link was created; absent if an older version created it. */
  | { kind: 'done'; ticketHash: string; sealedName: string; expiresAtMs: number; waitsFor?: WaitsFor };

/** Milliseconds. */
export const PENDING_SIGN_IN_LIFE_MS = 5 * MINUTE_MS;

export interface PendingSignIns {
  /** Stores a completed sign-in, encrypted for the invited user. One per browser. @throws IdentityError `store_away` */
  keep(cookieHash: string, invitation: Invitation, brought: SignedIn): Promise<void>;
  /** @returns the record and its stored text, which the commit compares @throws IdentityError `store_away` */
  read(cookieHash: string): Promise<{ quarantined: PendingSignIn; text: string } | undefined>;
  /** Decrypts a pending sign-in for the invited user. */
  open(invitation: Invitation, pending: Kept): OpenResult<SignedIn>;
}

type Kept = Extract<PendingSignIn, { kind: 'waiting' }>;

export function createPendingSignIns(store: IdentityStore, vault: Vault, nowMs: NowMs): PendingSignIns {
  const recordOf = ({ person, hash }: Invitation) => ({ purpose: 'quarantine', person, version: hash }) as const;
  return {
    async keep(cookieHash, invitation, brought) {
      const sealed = vault.seal(recordOf(invitation), brought);
      const expiresAtMs = nowMs() + PENDING_SIGN_IN_LIFE_MS;
      const pending: PendingSignIn = { kind: 'waiting', ticketHash: invitation.hash, sealed, expiresAtMs };
      const text = JSON.stringify(pending);
      await store.withDeadline((redis) => redis.set(keys.quarantine(cookieHash), text, 'PX', PENDING_SIGN_IN_LIFE_MS));
    },
    async read(cookieHash) {
      const text = await store.withDeadline((redis) => redis.get(keys.quarantine(cookieHash)));
      const pending = text === null ? undefined : (JSON.parse(text) as PendingSignIn);
      return text !== null && pending && pending.expiresAtMs > nowMs() ? { quarantined: pending, text } : undefined;
    },
    open: (invitation, { sealed }) => vault.open(recordOf(invitation), sealed),
  };
}
