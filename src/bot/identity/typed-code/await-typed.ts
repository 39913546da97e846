import { setTimeout as pause } from 'node:timers/promises';
import { SECOND_MS } from '../../../shared/clock.ts';
import type { FindSignIn } from '../browser/find-sign-in.ts';
import type { PendingSignIns } from '../invitations/pending-sign-ins.ts';
import { PageError } from '../pages/page-error.ts';

/** Below the timeouts of proxies. */
const MAX_CHECKS = 15;
const CHECK_GAP_MS = SECOND_MS;
/** Maximum waiting requests per process, and per browser: a person may open the page in several tabs. */
const MAX_WAITING = 500;
const MAX_WAITING_PER_BROWSER = 3;

export interface AwaitTypedParts {
  findSignIn: FindSignIn;
  pendingSignIns: Pick<PendingSignIns, 'read'>;
}

/**
 * Waits until the code that this browser shows is typed, replaced, invalid or expired (`over`), but at most 15 seconds
 * (`waiting`). `busy`: too many requests wait. Only a browser that shows a code can wait (SECURITY.md typed-code).
 * @param signal ends the wait, whose result is then not used
 * @throws PageError for a browser that shows no code
 * @throws IdentityError `store_away`
 */
export type AwaitTyped = (cookie: string | undefined, signal: AbortSignal) => Promise<'over' | 'waiting' | 'busy'>;

export function createAwaitTyped({ findSignIn, pendingSignIns }: AwaitTypedParts): AwaitTyped {
  const waiting = new Map<string, number>();
  let total = 0;
  const count = (browser: string, change: 1 | -1) => {
    const next = (waiting.get(browser) ?? 0) + change;
    total += change;
    if (next === 0) waiting.delete(browser);
    else waiting.set(browser, next);
  };
  return async (cookie, signal) => {
    const found = await findSignIn(cookie);
    if (found.kind === 'done') return 'over';
    if (found.invitation.status !== 'awaiting_code') throw new PageError('sign-in-broken-off');
    const { cookieHash, quarantineText } = found;
    if (total >= MAX_WAITING || (waiting.get(cookieHash) ?? 0) >= MAX_WAITING_PER_BROWSER) return 'busy';
    count(cookieHash, 1);
    try {
      for (let checks = 0; checks < MAX_CHECKS && !signal.aborted; checks += 1) {
        await pause(CHECK_GAP_MS, undefined, { signal, ref: false }).catch(() => undefined);
        // Every outcome of a typed code replaces or deletes the record.
        if ((await pendingSignIns.read(cookieHash))?.text !== quarantineText) return 'over';
      }
      return 'waiting';
    } finally {
      count(cookieHash, -1);
    }
  };
}
