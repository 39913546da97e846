import { describe, expect, test } from '@jest/globals';
import { chunk, helloStream, type Answer } from '../bot/model/scripted-chat-server.ts';
import { words } from '../bot/reply/pulled-fixture.ts';
import { untilTrue } from '../support/deployment.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { testTier } from '../support/tries.ts';

const deployment = useSlackDeployment();

/** The length of six Slack messages. */
const LONG = Array.from({ length: 2_200 }, (_, line) => `line ${line} of a long answer`)
  .join('\n')
  .slice(0, 60_000);
const MESSAGES = 6;
const NOTE = 'This is the beginning. The full answer is in the file answer.md below.';

const isOver = async () => (await deployment.redis.keys('*:pending')).length === 0;
const callsOf = (method: string) => deployment.slack.calls.filter((call) => call.method === method);
const shownFiles = () => deployment.slack.botFiles.filter(({ shownIn }) => shownIn.length > 0);

/** Asks privately and waits until the answer is shown completely. */
async function ask(text = 'a long one'): Promise<string> {
  const ts = await deployment.sender.direct('U1', text);
  await untilTrue(() => deployment.textsIn('DU1').length > 0 || deployment.chat.calls.length > 0);
  return ts;
}

/** One message with the beginning of the answer, and one file with all of it. */
function expectFile(ts: string, note = NOTE): void {
  expect(shownFiles()).toEqual([
    expect.objectContaining({ title: 'answer.md', text: LONG, shownIn: [{ channel: 'DU1', threadTs: ts }] }),
  ]);
  const [message, ...others] = deployment.slack.messages;
  expect(others).toEqual([]);
  expect(message).toMatchObject({ note, isStreaming: false });
  const shown = words(message?.text ?? '');
  expect(shown.length).toBeGreaterThan(1_000);
  expect(words(LONG).slice(0, shown.length)).toEqual(shown);
}

/** The complete answer in messages, without repeated text. */
function expectMessages(): void {
  expect(shownFiles()).toEqual([]);
  expect(deployment.textsIn('DU1')).toHaveLength(MESSAGES);
  expect(words(deployment.textsIn('DU1').join('\n'))).toEqual(words(LONG));
  expect(deployment.slack.messages.map(({ note }) => note).join('')).toBe('');
}

describe('a Slack answer of 60,000 characters [one-file]', () => {
  test.each([
    { reply: 'stream', question: 'a long one', note: NOTE },
    { reply: 'edit', question: '长回答', note: '以上是开头部分，完整回答见下方的文件 answer.md。' },
  ])('is shown as its beginning with a file below it ($reply)', async ({ reply, question, note }) => {
    deployment.chat.script(helloStream(LONG));
    await deployment.startBot({ SLACK_REPLY: reply });
    const ts = await deployment.sender.mention({ channel: 'C1', userId: 'U1' }, question);
    await untilTrue(async () => shownFiles().length > 0 && (await isOver()));
    expect(shownFiles()).toEqual([
      expect.objectContaining({ title: 'answer.md', text: LONG, shownIn: [{ channel: 'C1', threadTs: ts }] }),
    ]);
    expect(deployment.slack.messages).toEqual([expect.objectContaining({ note })]);
    // The upload address needs no authorization, so the bot must not send Slack's token to it.
    expect(callsOf('upload')).toEqual([{ method: 'upload', args: { authorization: undefined } }]);
    expect(callsOf('files.info')).toEqual([]);
    // The beginning is shown before the file.
    const methods = deployment.slack.calls.map(({ method }) => method);
    const begunAt = methods.findIndex((method) => /^chat\.(?:startStream|postMessage)$/.test(method));
    expect(begunAt).toBeLessThan(methods.indexOf('files.completeUploadExternal'));
  });

  test('stays one message with one file when it has grown in the chat before', async () => {
    const grows: Answer = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let at = 0; at < LONG.length; at += 4_000) {
        response.write(chunk({ content: LONG.slice(at, at + 4_000) }));
        await new Promise((resolve) => setTimeout(resolve, 40));
      }
      response.end(chunk({}, 'stop'));
    };
    deployment.chat.script(grows);
    await deployment.startBot();
    const ts = await ask();
    await untilTrue(async () => shownFiles().length > 0 && (await isOver()));
    expectFile(ts);
  });

  test.each([
    ['missing upload scope', 'files.getUploadURLExternal', { kind: 'error', error: 'missing_scope' }],
    ['bytes refused', 'upload', { kind: 'status', status: 403 }],
    ['file not allowed in the channel', 'files.completeUploadExternal', { kind: 'error', error: 'not_in_channel' }],
  ] as const)('is delivered as messages when Slack refuses the file: %s', async (_what, method, fault) => {
    deployment.slack.faults.set(method, [fault]);
    deployment.chat.script(helloStream(LONG));
    await deployment.startBot();
    await ask();
    await untilTrue(async () => deployment.textsIn('DU1').length === MESSAGES && (await isOver()));
    expectMessages();
  });

  test.each([
    ['server error on the first call', 'files.getUploadURLExternal', { kind: 'status', status: 500 }],
    ['upload cut off', 'upload', { kind: 'cut', when: 'before' }],
    ['rate limit', 'files.completeUploadExternal', { kind: 'busy', retryAfterSec: 1 }],
    ['shown, but the response is lost', 'files.completeUploadExternal', { kind: 'cut', when: 'after' }],
    ['not shown, and the response is lost', 'files.completeUploadExternal', { kind: 'cut', when: 'before' }],
  ] as const)('is delivered as one file when Slack fails temporarily: %s', async (_what, method, fault) => {
    deployment.slack.faults.set(method, [fault]);
    deployment.chat.script(helloStream(LONG));
    await deployment.startBot();
    const ts = await ask();
    await untilTrue(async () => shownFiles().length > 0 && (await isOver()));
    expectFile(ts);
  });

  test('is delivered as messages when asked by a command, since all members would see a file', async () => {
    deployment.chat.script(helloStream(LONG));
    await deployment.startBot();
    const responseUrl = deployment.slack.apiUrl.replace('/api', '/commands/T1/1');
    await deployment.sender.command({ channel: 'C1', userId: 'U1', responseUrl }, 'a long one');
    await untilTrue(async () => deployment.textsIn('C1').length === MESSAGES && (await isOver()));
    expect(deployment.slack.botFiles).toEqual([]);
  });

  test('checks whether Slack already shows the file before showing it again', async () => {
    deployment.slack.faults.set('files.completeUploadExternal', [{ kind: 'cut', when: 'after' }]);
    deployment.chat.script(helloStream(LONG));
    await deployment.startBot();
    const ts = await ask();
    await untilTrue(async () => shownFiles().length > 0 && (await isOver()));
    expectFile(ts);
    expect(callsOf('files.completeUploadExternal')).toHaveLength(1);
    expect(callsOf('files.info')).toHaveLength(1);
  });

  test('shows the file below its beginning even if the beginning was delayed until the answer was complete', async () => {
    deployment.slack.faults.set('chat.startStream', [{ kind: 'busy', retryAfterSec: 1 }]);
    deployment.chat.script(helloStream(LONG));
    await deployment.startBot();
    const ts = await ask();
    await untilTrue(async () => shownFiles().length > 0 && (await isOver()));
    expectFile(ts);
    const methods = deployment.slack.calls.map(({ method }) => method);
    const openedAt = methods.findLastIndex((method) => /^chat\.(?:startStream|postMessage)$/.test(method));
    expect(openedAt).toBeLessThan(methods.indexOf('files.completeUploadExternal'));
  });

  test('stays the same single file when another worker takes over', async () => {
    deployment.slack.faults.set('files.completeUploadExternal', [{ kind: 'late', afterMs: 2_000, isAnswered: false }]);
    deployment.chat.script(helloStream(LONG));
    await deployment.startBot({ SHUTDOWN_GRACE_SEC: '4' });
    const ts = await ask();
    await untilTrue(() => callsOf('files.completeUploadExternal').length === 1);
    await deployment.stopBots();
    await deployment.startBot();
    await untilTrue(async () => shownFiles().length > 0 && (await isOver()), 30_000);
    expectFile(ts);
    expect(deployment.slack.botFiles).toHaveLength(1);
    expect(deployment.chat.calls).toHaveLength(1);
  }, 60_000);

  test('stays messages when another worker takes over after that decision', async () => {
    deployment.slack.faults.set('files.completeUploadExternal', [{ kind: 'error', error: 'not_in_channel' }]);
    deployment.slack.faults.set('chat.postMessage', [{ kind: 'busy', retryAfterSec: 30 }]);
    deployment.chat.script(helloStream(LONG));
    await deployment.startBot({ SHUTDOWN_GRACE_SEC: '4' });
    await ask();
    await untilTrue(() => callsOf('chat.postMessage').length === 1);
    await deployment.stopBots();
    await deployment.startBot();
    await untilTrue(async () => deployment.textsIn('DU1').length === MESSAGES && (await isOver()), 30_000);
    expectMessages();
    expect(deployment.slack.botFiles).toHaveLength(1);
  }, 60_000);

  test('is delivered as messages when Slack names an upload address outside Slack [pinned-media]', async () => {
    deployment.slack.uploadOrigin = 'http://localhost:9';
    deployment.chat.script(helloStream(LONG));
    await deployment.startBot();
    await ask();
    await untilTrue(async () => deployment.textsIn('DU1').length === MESSAGES && (await isOver()));
    expectMessages();
    expect(callsOf('files.getUploadURLExternal')).toHaveLength(1);
  });

  test('has no file when it fits in three messages', async () => {
    deployment.chat.script(helloStream(LONG.slice(0, 33_000)));
    await deployment.startBot();
    await ask();
    await untilTrue(async () => deployment.textsIn('DU1').length === 3 && (await isOver()));
    expect(deployment.slack.botFiles).toEqual([]);
  });
});

describe('a Slack answer whose worker dies [one-file] [noted-before-posted]', () => {
  const places = ['slack.files.bytes:after', 'slack.files.completeUploadExternal:after', 'redis.commit:before'];
  if (testTier() === 'long')
    places.push(
      'slack.files.getUploadURLExternal:after',
      'slack.files.bytes:before',
      'slack.files.completeUploadExternal:before',
      'slack.chat.stopStream:before',
      'slack.chat.stopStream:after',
    );
  test.each(places)(
    'is one file and one answer when it dies at %s',
    async (place) => {
      deployment.chat.script(helloStream(LONG));
      await deployment.startBot({ ROLES: 'receiver' });
      const failPoint = { NODE_ENV: 'test', PARLEY_FAIL_POINT: `${place}:exit` };
      const dying = await deployment.startProcess({ ROLES: 'worker', ...failPoint });
      const ts = await ask();
      await dying.ended;
      await deployment.startProcess({ ROLES: 'worker' });
      await untilTrue(async () => shownFiles().length > 0 && (await isOver()), 40_000);
      expectFile(ts);
      expect(deployment.chat.calls).toHaveLength(1);
    },
    60_000,
  );

  test('stays messages when it dies after that decision', async () => {
    deployment.slack.faults.set('files.completeUploadExternal', [{ kind: 'error', error: 'not_in_channel' }]);
    deployment.chat.script(helloStream(LONG));
    await deployment.startBot({ ROLES: 'receiver' });
    const failPoint = { NODE_ENV: 'test', PARLEY_FAIL_POINT: 'slack.chat.postMessage:after:exit' };
    const dying = await deployment.startProcess({ ROLES: 'worker', ...failPoint });
    await ask();
    await dying.ended;
    await deployment.startProcess({ ROLES: 'worker' });
    await untilTrue(async () => deployment.textsIn('DU1').length === MESSAGES && (await isOver()), 50_000);
    expectMessages();
  }, 70_000);
});
