import { setTimeout as pause } from 'node:timers/promises';
import { monotonicMs, SECOND_MS } from '../../../../shared/clock.ts';
import { asError } from '../../../../shared/coded-error.ts';
import type { CheckResult } from '../../platform.ts';
import { BOT_SOCKET_TIMING, BotSocket, SubscriptionError } from './bot-socket.ts';
import type { WecomConnection } from './keep-connection.ts';
import { Lease, type HeldLease } from './lease.ts';
import { ReplyPlaces } from './reply-places.ts';

const NAME = 'WeCom connection';
const REDIS_WITHIN_MS = 2 * SECOND_MS;
const ASK_AGAIN_MS = 0.1 * SECOND_MS;

/**
 * Connects and subscribes as the bot, unless a running Parley does: WeCom allows one connection, and a second would replace
 * it. Messages received by this one are not answered, so it is closed at once.
 */
export async function checkConnection({ account, redis, keyRing, timing }: WecomConnection): Promise<CheckResult> {
  const places = new ReplyPlaces(redis, keyRing, account.botId);
  const seen = { isReplaced: false };
  const lease = await gainInTime(new Lease(redis, places.leaseKey), (isReplaced) => (seen.isReplaced = isReplaced));
  if (lease === 'unknown')
    return {
      name: NAME,
      verdict: 'warning',
      detail: 'not tested: Redis did not return whether a running Parley holds the connection',
      nextStep: 'Fix Redis first; see its line',
    };
  if (seen.isReplaced)
    return {
      name: NAME,
      verdict: 'fault',
      detail: 'another program is connected as this bot and receives its messages',
      nextStep: 'Stop the other program or deployment, or give it its own bot',
    };
  if (!lease) return { name: NAME, verdict: 'ok', detail: 'a running Parley holds the connection' };
  try {
    const { url, botId, secret } = account;
    const options = { url, botId, secret, timing: { ...BOT_SOCKET_TIMING, ...timing }, onCallback: () => undefined };
    const socket = await BotSocket.open(options);
    await socket.close();
    return {
      name: NAME,
      verdict: 'ok',
      detail: 'WeCom accepts the bot’s credentials; no public address is needed for it',
    };
  } catch (thrown) {
    return faultOf(thrown);
  } finally {
    await lease.release().catch(() => 0);
  }
}

/** Retries, because Redis may still be connecting. */
async function gainInTime(
  lease: Lease,
  onWait: (isReplaced: boolean) => void,
): Promise<HeldLease | undefined | 'unknown'> {
  const giveUpAtMs = monotonicMs() + REDIS_WITHIN_MS;
  for (;;) {
    const gained = await lease.tryAcquire(onWait).catch(() => 'unknown' as const);
    if (gained !== 'unknown' || monotonicMs() >= giveUpAtMs) return gained;
    await pause(ASK_AGAIN_MS);
  }
}

function faultOf(thrown: unknown): CheckResult {
  if (thrown instanceof SubscriptionError && thrown.isRefused)
    return {
      name: NAME,
      verdict: 'fault',
      detail: 'WeCom refuses the bot’s id or secret (853000)',
      nextStep:
        'In WeCom’s console set the bot’s API mode to the long connection, and copy its Bot ID and Secret into WECOM_BOT_ID and WECOM_BOT_SECRET (Token and EncodingAESKey are for WECOM_CONNECT=callback)',
    };
  return {
    name: NAME,
    verdict: 'fault',
    detail: `no connection: ${asError(thrown).message}`,
    nextStep: 'Check that this machine can reach WECOM_WS_URL on port 443, or set a proxy in HTTPS_PROXY',
  };
}
