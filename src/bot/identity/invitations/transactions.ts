import { MINUTE_MS, type NowMs } from '../../../shared/clock.ts';
import { claimOnce } from '../../../shared/redis/claim-once.ts';
import type { PlatformName } from '../../domain/platform-name.ts';
import { keys, type IdentityStore } from '../store.ts';

/** The service to which a browser was sent. The callback path must match (SECURITY.md transaction-taken-once). */
export type SignInLeg = 'service' | `platform/${PlatformName}`;

/** The expected callback of a browser that was sent to a sign-in. One per browser; a new one replaces it. */
export interface Transaction {
  leg: SignInLeg;
  ticketHash: string;
  redirectUri: string;
  stateHash: string;
  /** Encrypted data that the protocol or the platform needs at the callback (PKCE verifier, nonce). */
  verifier?: string;
  /** Whether the platform's web sign-in has proven that this browser belongs to the invited user. */
  isChatProven: boolean;
  restarts: number;
  expiresAtMs: number;
}

/** Milliseconds. */
export const TRANSACTION_LIFE_MS = 5 * MINUTE_MS;

export interface Transactions {
  /** Takes the transaction. Of several callers only one gets it. @throws IdentityError `store_away` */
  take(cookieHash: string): Promise<Transaction | undefined>;
  /** Reads the transaction without taking it. @throws IdentityError `store_away` */
  peek(cookieHash: string): Promise<Transaction | undefined>;
}

export function createTransactions(store: IdentityStore, nowMs: NowMs): Transactions {
  const read = (text: string | undefined): Transaction | undefined => {
    const transaction = text === undefined ? undefined : (JSON.parse(text) as Transaction);
    return transaction && transaction.expiresAtMs > nowMs() ? transaction : undefined;
  };
  return {
    take: async (cookieHash) =>
      read(await store.withDeadline((redis) => claimOnce(redis, keys.transaction(cookieHash)))),
    peek: async (cookieHash) =>
      read((await store.withDeadline((redis) => redis.get(keys.transaction(cookieHash)))) ?? undefined),
  };
}
