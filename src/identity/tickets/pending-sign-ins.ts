import { MINUTE_MS, type NowMs } from '../../base/clock.ts';
import { keys, type IdentityStore } from '../store.ts';
import type { Ticket } from './tickets.ts';
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
  /** Keeps a sign-in for the browser; one a browser. @throws IdentityError `store_away` */
  put(cookieHash: string, pending: PendingSignIn): Promise<void>;
  /** @returns also the text as it is stored, which the commit compares. @throws IdentityError `store_away` */
  read(cookieHash: string): Promise<{ quarantined: PendingSignIn; text: string } | undefined>;
  /** @throws IdentityError `store_away` */
  drop(cookieHash: string): Promise<void>;
}

type Kept = Extract<PendingSignIn, { kind: 'waiting' }>;

/** Opens a sign-in that waits for the ticket's person. @throws SealError */
export function openSignedIn({ vault }: { vault: Vault }, ticket: Ticket, { sealed }: Kept): SignedIn {
  return vault.open({ purpose: 'quarantine', person: ticket.person, version: ticket.hash }, sealed);
}

export function createPendingSignIns(store: IdentityStore, nowMs: NowMs): PendingSignIns {
  return {
    async put(cookieHash, pending) {
      const text = JSON.stringify(pending);
      await store.withDeadline((redis) => redis.set(keys.quarantine(cookieHash), text, 'PX', PENDING_SIGN_IN_LIFE_MS));
    },
    async read(cookieHash) {
      const text = await store.withDeadline((redis) => redis.get(keys.quarantine(cookieHash)));
      const pending = text === null ? undefined : (JSON.parse(text) as PendingSignIn);
      return text !== null && pending && pending.expiresAtMs > nowMs() ? { quarantined: pending, text } : undefined;
    },
    async drop(cookieHash) {
      await store.withDeadline((redis) => redis.del(keys.quarantine(cookieHash)));
    },
  };
}
