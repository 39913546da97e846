import { expect, test } from '@jest/globals';
import { splitAnswer } from '../../../../src/bot/platforms/wecom/render-reply.ts';
import { readableText } from '../../../../src/bot/tools/page/readable-text.ts';

/** 150 KB that take minutes, because the reader visits each element once per ancestor. */
const ENDLESS = '<div>'.repeat(30_000);
const NEVER = new AbortController().signal;

const reading = (html: string, signal: AbortSignal = NEVER) => readableText(html, signal).catch(String);

test('a page that takes minutes is given up with its turn, without blocking the event loop [egress-checked]', async () => {
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(new Error('over')), 1_500);
  let ticks = 0;
  const ticking = setInterval(() => (ticks += 1), 5);
  expect(await reading(ENDLESS, ending.signal)).toBe('Error: over');
  clearTimeout(timer);
  clearInterval(ticking);
  expect(ticks).toBeGreaterThan(10);
});

test('a page that takes too much memory is reported as unreadable, and the next one is read [egress-checked]', async () => {
  expect(await reading('<hr a b c d e f g>'.repeat(110_000))).toBe('ToolError: The page cannot be read.');
  expect(await reading('<p>short</p>')).toEqual({ title: '', text: 'short' });
}, 60_000);

test('one page is read at a time, so that a long answer still gets a thread, and the next page waits [egress-checked]', async () => {
  const ending = new AbortController();
  const endless = reading(ENDLESS, ending.signal);
  let second: unknown;
  const waiting = reading('<p>second</p>').then((text) => (second = text));
  for (let answer = 0; answer < 6; answer += 1) expect(await splitAnswer('word '.repeat(5_000))).toHaveLength(2);
  expect(second).toBeUndefined();
  ending.abort(new Error('first over'));
  expect(await waiting).toEqual({ title: '', text: 'second' });
  expect(await endless).toBe('Error: first over');
}, 60_000);

test('a page that waits for its turn to be read is given up with its question and frees its place [egress-checked]', async () => {
  const endings = [new AbortController(), new AbortController(), new AbortController()];
  const all = endings.map(({ signal }) => reading(ENDLESS, signal));
  for (const ending of endings) ending.abort(new Error('over'));
  expect(await Promise.all(all)).toEqual(['Error: over', 'Error: over', 'Error: over']);
  expect(await reading('<p>next</p>')).toEqual({ title: '', text: 'next' });
});
