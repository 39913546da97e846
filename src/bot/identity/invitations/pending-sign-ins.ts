import { MINUTE_MS, type NowMs } from '../../../shared/clock.ts';
import type { Opened } from '../../../shared/crypto/decrypt-record.ts';
import { keys, type IdentityStore } from '../store.ts';
import type { Ticket } from './invitations.ts';
import type { SignedIn, Vault } from '../tokens/vault.ts';
import type { WaitsFor } from '../links/waiting.ts';

/**
 * What a browser's finished sign-in waits as until it is confirmed (SECURITY.md sealed-until-proven), and for a while what is
 * left of it, so that the page can be shown again. Sealed parts open only for the ticket's person.
 */
export type PendingSignIn =
  | { kind: 'waiting'; ticketHash: string; sealed: string; expiresAtMs: number }
  /** `waitsFor`: what waited when the link was made; an older version does not note it. */
  | { kind: 'done'; ticketHash: string; sealedName: string; expiresAtMs: number; waitsFor?: WaitsFor };

/** Milliseconds. */
export const PENDING_SIGN_IN_LIFE_MS = 5 * MINUTE_MS;

export interface PendingSignIns {
  /** Keeps what a sign-in brought, sealed for the ticket's person; one a browser. @throws IdentityError `store_away` */
  keep(cookieHash: string, ticket: Ticket, brought: SignedIn): Promise<void>;
  /** @returns also the text as it is stored, which the commit compares. @throws IdentityError `store_away` */
  read(cookieHash: string): Promise<{ quarantined: PendingSignIn; text: string } | undefined>;
  /** Opens a sign-in that waits for the ticket's person. */
  open(ticket: Ticket, pending: Kept): Opened<SignedIn>;
}

type Kept = Extract<PendingSignIn, { kind: 'waiting' }>;

export function createPendingSignIns(store: IdentityStore, vault: Vault, nowMs: NowMs): PendingSignIns {
  const recordOf = ({ person, hash }: Ticket) => ({ purpose: 'quarantine', person, version: hash }) as const;
  return {
    async keep(cookieHash, ticket, brought) {
      const sealed = vault.seal(recordOf(ticket), brought);
      const expiresAtMs = nowMs() + PENDING_SIGN_IN_LIFE_MS;
      const pending: PendingSignIn = { kind: 'waiting', ticketHash: ticket.hash, sealed, expiresAtMs };
      const text = JSON.stringify(pending);
      await store.withDeadline((redis) => redis.set(keys.quarantine(cookieHash), text, 'PX', PENDING_SIGN_IN_LIFE_MS));
    },
    async read(cookieHash) {
      const text = await store.withDeadline((redis) => redis.get(keys.quarantine(cookieHash)));
      const pending = text === null ? undefined : (JSON.parse(text) as PendingSignIn);
      return text !== null && pending && pending.expiresAtMs > nowMs() ? { quarantined: pending, text } : undefined;
    },
    open: (ticket, { sealed }) => vault.open(recordOf(ticket), sealed),
  };
}
