import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { MINUTE_MS } from '../../src/shared/clock.ts';
import { chunk, sse, startScriptedChatServer, streamOf, type Answer } from '../bot/model/scripted-chat-server.ts';
import { ageMessages } from '../support/age-messages.ts';
import { Deferred } from '../../src/shared/deferred.ts';
import { startDeployment, untilTrue, type Deployment } from '../support/deployment.ts';

/** After the handover of a live answer, and within the six minutes of a stream. */
const HANDOVER_MS = 5.6 * MINUTE_MS;
const SILENCE_MS = 7 * MINUTE_MS;
const ANSWER = 'The tool has found 42 rows.';

const OTHER_WAY = 'an answer was delivered in another way than the live reply';

/** Answers that begin only after a silence, by the silent part. */
const SILENCES: [name: string, (released: Promise<void>) => Answer[]][] = [
  ['an engine before its headers', (released) => [async (...call) => (await released, streamOf(...WORDS)(...call))]],
  [
    'an engine before its first word',
    (released) => [
      async (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(chunk({ role: 'assistant', content: '' }));
        await released;
        response.end(WORDS.join(''));
      },
    ],
  ],
  [
    'a round after a tool',
    (released) => [streamOf(TOOL_CALL), async (...call) => (await released, streamOf(...WORDS)(...call))],
  ],
];
const WORDS = [chunk({ content: 'The tool has ' }), chunk({ content: 'found 42 rows.' }, 'stop'), sse('[DONE]')];
const TOOL_CALL = chunk(
  { tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'current_time', arguments: '{}' } }] },
  'tool_calls',
);

describe.each(['callback', 'connection'] as const)('silent answers by %s', (way) => {
  let deployment: Deployment;
  let chat: Awaited<ReturnType<typeof startScriptedChatServer>>;
  beforeAll(async () => {
    chat = await startScriptedChatServer();
    deployment = await startDeployment({
      isConnected: way === 'connection',
      env: { SIGN_IN: 'off', SIGN_IN_PROOF: '', CHAT_BASE_URL: chat.baseUrl },
    });
  }, 60_000);
  afterEach(() => void deployment.lines.splice(0));
  afterAll(async () => {
    await deployment.stop();
    await chat.stop();
  });

  const driver = () => deployment.messenger.driver;
  const pass = async (ms: number) => {
    deployment.advance(ms);
    await ageMessages(deployment.redis, ms);
  };
  const logged = (words: string) => deployment.lines.filter((line) => line.includes(words));
  const untilBrought = () => untilTrue(() => logged(OTHER_WAY).length > 0);
  /** Asks a question whose answer stays silent until `silence` is resolved. */
  const ask = async (answers: (typeof SILENCES)[number][1]) => {
    const silence = new Deferred();
    const script = answers(silence.promise);
    chat.calls.splice(0);
    chat.script(...script);
    const message = await driver().send('zhangwei', 'How many rows are there?');
    await untilTrue(() => chat.calls.length === script.length);
    // The clock jumps next, so the stream must have begun before.
    await untilTrue(async () =>
      (await driver().messages('zhangwei')).some((one) => one.sender === 'bot' && one.atMs >= message.atMs),
    );
    return { message, silence, calls: script.length };
  };
  const answersSince = async (atMs: number) =>
    (await driver().messages('zhangwei')).filter(
      ({ sender, text, atMs: saidMs }) => sender === 'bot' && text.includes(ANSWER) && saidMs >= atMs,
    );

  test.each(SILENCES)(
    'arrive once, after the stream has ended, with %s that is silent for 7 minutes',
    async (_, answers) => {
      const { message, silence, calls } = await ask(answers);
      await pass(HANDOVER_MS);
      const notice = await driver().waitForAnswer(message.id, { timeoutMs: 20_000 });
      expect(notice.text).toContain('I will send the answer as a new message');
      await pass(SILENCE_MS - HANDOVER_MS);
      silence.resolve();
      await untilBrought();
      expect((await answersSince(message.atMs)).map(({ text }) => text)).toEqual([ANSWER]);
      expect((await driver().message(notice.id)).text).toBe(notice.text);
      expect(chat.calls).toHaveLength(calls);
      expect(logged(OTHER_WAY)).toEqual([expect.stringMatching(/"result":"sent","way":"handle"/)]);
      expect(driver().violations()).toEqual([]);
    },
  );

  if (way === 'connection')
    test('arrive once, in another stream, if the first one ends before its handover', async () => {
      const { message, silence } = await ask(SILENCES[0]![1]);
      await pass(SILENCE_MS);
      await untilTrue(() => logged('an answer was finished outside its stream').length > 0, 20_000);
      expect(logged('an answer was finished outside its stream')).toEqual([expect.stringContaining('"way":"stream"')]);
      silence.resolve();
      await untilBrought();
      expect((await answersSince(message.atMs)).map(({ text }) => text)).toEqual([ANSWER]);
    });
});
