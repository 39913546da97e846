import { MINUTE_MS, SECOND_MS, type NowMs } from '../../../../src/shared/clock.ts';
import type { FakeApi } from './fake-api.ts';

/** What members see of an app's messages. */
export interface MemberLimits {
  /** In display order. */
  shown: { userId: string; text: string; atMs: number }[];
  /** Messages that WeCom accepted without an error but did not show, because the limit was reached. */
  dropped: string[];
  /** Makes WeCom report that it is called too often. */
  isBusy: boolean;
  /** Called after a message is processed, before WeCom answers; returning `true` withholds the answer. */
  onShown(): unknown;
}

const MAX_A_MINUTE = 30;

/**
 * Makes the app's API show messages as WeCom does (PLATFORM_FACTS.md wecom-app): the same text once and 30 messages a
 * minute; the rest is dropped without an error.
 */
export function limitMembers(api: FakeApi, nowMs: NowMs): MemberLimits {
  const limits: MemberLimits = { shown: [], dropped: [], isBusy: false, onShown: () => undefined };
  const sent = new Map<string, number>();
  api.answers.set('/cgi-bin/message/send', ({ json }) => {
    const { touser, text, ...more } = json as { touser: string; text: { content: string } };
    const { enable_duplicate_check: isChecked, duplicate_check_interval: sec = 0 } = more as Record<string, number>;
    const key = `${touser} ${text.content}`;
    const atMs = nowMs();
    if (limits.isBusy) return { errcode: 45_009 };
    const isRepeat = isChecked === 1 && atMs - (sent.get(key) ?? -Infinity) < sec * SECOND_MS;
    if (isRepeat) return { errcode: 0 };
    if (isChecked === 1) sent.set(key, atMs);
    const inAMinute = limits.shown.filter((one) => one.userId === touser && one.atMs > atMs - MINUTE_MS);
    if (inAMinute.length >= MAX_A_MINUTE) limits.dropped.push(text.content);
    else limits.shown.push({ userId: touser, text: text.content, atMs });
    return limits.onShown() === true ? 'hang' : { errcode: 0 };
  });
  return limits;
}
