import { MINUTE_MS, type NowMs } from '../../../shared/clock.ts';
import { takeOnce } from '../../../shared/redis/claim-once.ts';
import type { PlatformName } from '../../domain/platform-name.ts';
import { keys, type IdentityStore } from '../store.ts';

/** Which sign-in a browser was sent to; its callback path must be the same (SECURITY.md transaction-taken-once). */
export type SignInProvider = 'service' | `platform/${PlatformName}`;

/** What a browser that was sent to a sign-in has to come back with. One a browser: a new one takes the old one's place. */
export interface Transaction {
  leg: SignInProvider;
  ticketHash: string;
  redirectUri: string;
  stateHash: string;
  /** What the dialect or the platform needs at the return (PKCE verifier, nonce), sealed. */
  verifier?: string;
  /** Whether this browser has shown by the platform's web sign-in that it is the chat person's. */
  isChatProven: boolean;
  /** How often the flow was begun anew by itself. */
  restarts: number;
  expiresAtMs: number;
}

/** Milliseconds. */
export const TRANSACTION_LIFE_MS = 5 * MINUTE_MS;

export interface Transactions {
  /** Takes the transaction: of any number of callers one gets it. @throws IdentityError `store_away` */
  take(cookieHash: string): Promise<Transaction | undefined>;
  /** Looks without taking. @throws IdentityError `store_away` */
  peek(cookieHash: string): Promise<Transaction | undefined>;
}

export function createTransactions(store: IdentityStore, nowMs: NowMs): Transactions {
  const read = (text: string | undefined): Transaction | undefined => {
    const transaction = text === undefined ? undefined : (JSON.parse(text) as Transaction);
    return transaction && transaction.expiresAtMs > nowMs() ? transaction : undefined;
  };
  return {
    take: async (cookieHash) =>
      read(await store.withDeadline((redis) => takeOnce(redis, keys.transaction(cookieHash)))),
    peek: async (cookieHash) =>
      read((await store.withDeadline((redis) => redis.get(keys.transaction(cookieHash)))) ?? undefined),
  };
}
