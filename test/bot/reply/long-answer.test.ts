import { expect, jest, test } from '@jest/globals';
import type { Platform } from '../../../src/bot/platforms/platform.ts';
import { createMarkdownWriter } from '../../../src/bot/platforms/markdown/markdown-writer.ts';
import { splitInThread } from '../../../src/bot/platforms/split-answer.ts';
import { WECOM_DIALECT } from '../../../src/bot/platforms/wecom/dialect.ts';
import { splitAnswer as splitForSlack } from '../../../src/bot/platforms/slack/render-reply.ts';
import { splitAnswer as splitForWecom } from '../../../src/bot/platforms/wecom/render-reply.ts';
import { usePulledFixture, words } from './pulled-fixture.ts';
import { usePushedFixture } from './pushed-fixture.ts';

// A worker thread has to start, which takes seconds when many tests run.
jest.setTimeout(60_000);

const pulled = usePulledFixture();
const pushed = usePushedFixture();
const LONG = 'A **sentence** of [some](https://example.com/a) words.\n\n'.repeat(600);

/** Records whether the answer is already stored whenever it is split. */
function whenCut(platform: Platform, stored: () => Promise<string | undefined>): (boolean | undefined)[] {
  const seen: boolean[] = [];
  const splitAnswer = platform.splitAnswer.bind(platform);
  platform.splitAnswer = async (...args) => {
    seen.push((await stored()) !== undefined);
    return splitAnswer(...args);
  };
  return seen;
}

test.each(['stream', 'edit'] as const)(
  'on Slack (%s) a long answer is stored before it is split, so that a worker that takes over has it',
  async (mode) => {
    const asked = await pushed.ask(mode);
    const seen = whenCut(asked.platform, async () => (await asked.state())['answer']);
    const { live, stored, commit } = await asked.take();
    await commit(await live.finish(LONG));
    expect(seen).toEqual([true]);
    // The post does not send the answer to Redis again.
    expect(stored).toEqual([]);
    expect(pushed.texts().join('').replaceAll(/\s/g, '')).toBe(LONG.replaceAll(/\s/g, ''));
  },
);

test('on WeCom a long answer is stored before it is split', async () => {
  const turn = await pulled.open();
  const { redis } = pulled.server;
  const [state = ''] = await redis.keys('*:state:*');
  const splitAnswer = pulled.platform.splitAnswer;
  const seen = whenCut(pulled.platform, async () => (await redis.hget(state, 'answer')) ?? undefined);
  await turn.finish(LONG);
  pulled.platform.splitAnswer = splitAnswer;
  expect(seen).toEqual([true]);
  expect(words((await turn.poll()).content, ...pulled.postedLater).join('')).toBe(LONG.replaceAll(/\s/g, ''));
});

test('a worker that was replaced meanwhile does not split its answer', async () => {
  const asked = await pushed.ask('edit');
  const seen = whenCut(asked.platform, async () => undefined);
  const old = await asked.take();
  await asked.take();
  expect(await old.live.finish(LONG)).toEqual([]);
  expect(seen).toEqual([]);
});

test.each([
  ['Slack', splitForSlack],
  ['WeCom', splitForWecom],
])('on %s the event loop runs while a long answer is split; a short one is split at once', async (_name, split) => {
  let rounds = 0;
  const goOn = () => void (next = setImmediate(() => (rounds += 1) && goOn()));
  let next: NodeJS.Immediate | undefined;
  goOn();
  expect(await split('A short answer.')).toEqual(['A short answer.']);
  expect(rounds).toBe(0);
  expect((await split(LONG)).length).toBeGreaterThan(1);
  expect(rounds).toBeGreaterThan(0);
  clearImmediate(next);
});

test('shows an answer that no worker thread can split as plain text, whole and harmless', async () => {
  const writer = createMarkdownWriter(WECOM_DIALECT);
  // A value that cannot be cloned fails the thread before it starts.
  const work = { dialect: 'wecom', text: `${LONG}@all <a href="x">`, maxBytes: 4_096, what: () => 0 } as const;
  const pieces = await splitInThread(writer, work);
  expect(pieces.length).toBeGreaterThan(5);
  expect(pieces.join('')).toBe(`${LONG.replaceAll('](', '］(')}＠all ＜a href="x">`);
  for (const piece of pieces) {
    expect(Buffer.byteLength(piece)).toBeLessThanOrEqual(4_096);
    expect(writer.renderFinished(piece, 4_096)).toBe(piece);
  }
});
