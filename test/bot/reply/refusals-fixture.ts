import { expect } from '@jest/globals';
import type { PushReplies } from '../../../src/bot/platforms/platform.ts';
import { notShown, type AskOptions, type PushedFixture, type PushingWorker } from './pushed-fixture.ts';

export const WHOLE = 'One, two, three, and this is the whole answer.';
const STEPS = ['One', 'One, two', 'One, two, three'];

/** Codes of each kind that Slack documents for its write methods, and three undocumented ones. */
export const CODES = [
  'streaming_state_conflict',
  'message_not_in_streaming_state',
  'message_not_found',
  'cant_update_message',
  'edit_window_closed',
  'invalid_arguments',
  'invalid_blocks',
  'msg_too_long',
  'restricted_action',
  'is_archived',
  'thread_not_found',
  'method_not_supported_for_channel_type',
  'a_code_of_tomorrow',
  'UPPER CASE, with blanks',
  '42',
];
export const MODES = ['stream', 'edit'] as const;

/** Every call that shows, changes or deletes something. */
const WRITES = /^(?:chat|files)\.(?!info)/;

export interface Refusals {
  /** Index of the first refused write, from 0, among those that `methods` matches. */
  from?: number;
  /** Number of refusals. Defaults to all writes from `from` on. */
  times?: number;
  error: string;
  /** Writes that are counted and refused. Defaults to all except deletion. */
  methods?: RegExp;
}

/** Where a worker dies: in one of its calls that show or remove something, before or after the platform runs it. */
export interface Death {
  call: number;
  when: 'before' | 'after';
}

/** Lets workers show an answer while some writes are refused. @returns once the last worker has committed */
export async function answerWith(
  fixture: PushedFixture,
  mode: (typeof MODES)[number],
  { from = 0, times = Number.POSITIVE_INFINITY, error, methods = /^chat\.(?!delete)/ }: Refusals,
  death?: Death,
): Promise<void> {
  let count = -1;
  fixture.slack.meet((method) => {
    if (!WRITES.test(method) || !methods.test(method)) return undefined;
    count += 1;
    return count >= from && count < from + times ? { kind: 'error', error } : undefined;
  });
  notShown.length = 0;
  const dying = dyingAt(death);
  const { take } = await fixture.ask(mode, dying.options);
  if (death) {
    void show(fixture, await take()).catch(() => undefined);
    const isOver = await dying.untilOver();
    if (!isOver) dying.isDead = true;
    if (isOver) return;
  }
  await show(fixture, await take());
}

async function show(fixture: PushedFixture, { live, commit, isFenced }: PushingWorker): Promise<void> {
  for (const text of STEPS) {
    const { length } = fixture.slack.calls;
    live.show({ text });
    // A snapshot may be delayed after refusals.
    for (let tries = 0; tries < 10 && fixture.slack.calls.length === length && !isFenced(); tries += 1)
      await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await commit(await live.finish(WHOLE));
}

/** The calls of the first worker hang from its death on; those of the next worker do not. */
function dyingAt(death: Death | undefined) {
  let calls = -1;
  let isReached: () => void = () => undefined;
  const reached = new Promise<void>((resolve) => (isReached = resolve));
  const dying = {
    isDead: false,
    /** @returns whether the answer was complete before the worker reached its death */
    async untilOver(): Promise<boolean> {
      const tooLate = new Promise<'never'>((resolve) => setTimeout(() => resolve('never'), 700).unref());
      return (await Promise.race([reached.then(() => 'dead' as const), tooLate])) === 'never';
    },
    options: {} as AskOptions,
  };
  if (!death) return dying;
  const meets = (when: Death['when']) => async (method: keyof PushReplies) => {
    if (dying.isDead || method === 'find') return;
    if (when === (death.when === 'before' ? 'before' : 'after')) calls += 1;
    if (calls !== death.call || when !== death.when) return;
    isReached();
    await new Promise(() => undefined);
  };
  dying.options = { onCall: meets('before'), onAnswer: meets('after') };
  return dying;
}

/**
 * Expects exactly one whole answer, as a message or a file, no open stream, and other messages only to say where the answer
 * is.
 */
export function expectOneWhole(fixture: PushedFixture): void {
  const { messages, botFiles } = fixture.slack;
  const inFiles = botFiles.flatMap(({ text, shownIn }) => shownIn.map(() => text));
  const texts = [...messages.map(({ text }) => text), ...inFiles];
  expect(messages.filter(({ isStreaming }) => isStreaming)).toEqual([]);
  expect(texts.filter((text) => text === WHOLE)).toEqual([WHOLE]);
  expect(texts.filter((text) => text !== WHOLE && text !== '↓ answered below')).toEqual([]);
}
