import { expect, jest, test } from '@jest/globals';
import type { Platform } from '../../../src/bot/platforms/platform.ts';
import { createMarkdownWriter } from '../../../src/bot/platforms/markdown/markdown-writer.ts';
import { splitInThread } from '../../../src/bot/platforms/split-answer.ts';
import { WECOM_DIALECT } from '../../../src/bot/platforms/wecom/dialect.ts';
import { splitAnswer as splitForSlack } from '../../../src/bot/platforms/slack/render-reply.ts';
import { splitAnswer as splitForWecom } from '../../../src/bot/platforms/wecom/render-reply.ts';
import { usePulledFixture, words } from './pulled-fixture.ts';
import { usePushedFixture } from './pushed-fixture.ts';

// A thread has to be started, which takes seconds where many tests run.
jest.setTimeout(60_000);

const pulled = usePulledFixture();
const pushed = usePushedFixture();
const LONG = 'A **sentence** of [some](https://example.com/a) words.\n\n'.repeat(600);

/** What is stored of the answer when it is cut. */
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
  'on Slack (%s) a long answer is stored whole before it is cut, so that whoever takes over has it',
  async (mode) => {
    const asked = await pushed.ask(mode);
    const seen = whenCut(asked.platform, async () => (await asked.state())['answer']);
    const { live, stored, commit } = await asked.take();
    await commit(await live.finish(LONG));
    expect(seen).toEqual([true]);
    // It is not sent to Redis once more with the post.
    expect(stored).toEqual([]);
    expect(pushed.texts().join('').replaceAll(/\s/g, '')).toBe(LONG.replaceAll(/\s/g, ''));
  },
);

test('on WeCom a long answer is stored whole before it is cut', async () => {
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

test('a worker that was replaced meanwhile does not even cut it', async () => {
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
])('on %s the loop goes on while a long answer is cut, and a short one is cut at once', async (_name, split) => {
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

test('where no thread can cut it, an answer is shown as plain text, whole and harmless', async () => {
  const writer = createMarkdownWriter(WECOM_DIALECT);
  // What cannot be given to a thread ends it before it begins.
  const work = { dialect: 'wecom', text: `${LONG}@all <a href="x">`, maxBytes: 4_096, what: () => 0 } as const;
  const pieces = await splitInThread(writer, work);
  expect(pieces.length).toBeGreaterThan(5);
  expect(pieces.join('')).toBe(`${LONG.replaceAll('](', '］(')}＠all ＜a href="x">`);
  for (const piece of pieces) {
    expect(Buffer.byteLength(piece)).toBeLessThanOrEqual(4_096);
    expect(writer.finished(piece, 4_096)).toBe(piece);
  }
});
