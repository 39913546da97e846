import { describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { chunk, helloStream, type Answer } from '../bot/model/scripted-chat-server.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';

const deployment = useSlackDeployment();

/** Streams a word every 30 ms until the caller disconnects. */
const endless: Answer = async (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let word = 1; !response.destroyed; word += 1) {
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: `word${word} ` } }] })}\n\n`);
    await sleep(30);
  }
};

test.each([
  { question: 'a question', note: 'Stopped.' },
  { question: '一个问题', note: '已停止。' },
])(
  "Slack's own stop button keeps the text and adds a note in the asker's language: $note",
  async ({ question, note }) => {
    deployment.chat.script(endless);
    await deployment.startBot();
    await deployment.sender.direct('U1', question);
    await untilTrue(() => deployment.textsIn('DU1').join('').includes('word2'));
    deployment.slack.faults.set('chat.appendStream', [{ kind: 'error', error: 'stopped_by_user' }]);
    const seen = () => deployment.slack.messages.at(-1);
    await untilTrue(() => seen()?.note === note);
    expect(deployment.textsIn('DU1')).toEqual([expect.stringMatching(/^(word\d+ )+$/)]);
    expect(seen()?.snapshots.at(-1)).toContain('word1 word2 ');
    expect(await deployment.chat.calls[0]?.closed).toBe('cut');
  },
  60_000,
);

const place = { channel: 'C1', userId: 'U1' };
const grows = () => deployment.textsIn('C1').join('').includes('word2');
/** The bot's messages below a question of the channel, the oldest first. */
const below = (ts: string) => deployment.slack.messages.filter((message) => message.threadTs === ts);

describe('a stop in the thread of an answer by its asker [no-second-beginning]', () => {
  test.each([
    { where: 'a channel', word: '<@UBOT> /stop', answers: ['Stopped.'] },
    { where: 'a channel, without naming the bot', word: '停止', answers: [] },
    { where: 'a private chat', word: '/stop', answers: ['Stopped.'] },
  ])('works in $where: $word', async ({ where, word, answers }) => {
    deployment.chat.script(endless);
    await deployment.startBot();
    const isPrivate = where === 'a private chat';
    const channel = isPrivate ? 'DU1' : 'C1';
    const ts = isPrivate
      ? await deployment.sender.direct('U1', 'a question')
      : await deployment.sender.mention(place, 'a question');
    await untilTrue(() => deployment.textsIn(channel).join('').includes('word2'));
    const said = { type: 'message', channel, user: 'U1', text: word, ts: '1760000009.000001', thread_ts: ts };
    expect(await deployment.sender.event({ ...said, channel_type: isPrivate ? 'im' : 'channel' })).toBe(200);
    await untilTrue(() => below(ts)[0]?.note === 'Stopped.');
    expect(await deployment.chat.calls[0]?.closed).toBe('cut');
    await untilTrue(() => below(ts).length === 1 + answers.length);
    expect(below(ts).map(({ text }) => text)).toEqual([expect.stringMatching(/^(word\d+ )+$/), ...answers]);
  });

  test('ends a question that still waits, and leaves the running one alone', async () => {
    let end: () => void = () => undefined;
    const first: Answer = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk({ content: 'the first' }));
      await new Promise<void>((resolve) => (end = resolve));
      response.end(`${chunk({ content: ' answer' }, 'stop')}data: [DONE]\n\n`);
    };
    deployment.chat.script(first);
    await deployment.startBot();
    const running = await deployment.sender.mention(place, 'one');
    await untilTrue(() => below(running)[0]?.text === 'the first');
    const waiting = await deployment.sender.mention(place, 'two');
    await deployment.sender.mention({ ...place, threadTs: waiting }, '/stop');
    await untilTrue(() => below(waiting)[0]?.text === 'Stopped.');
    end();
    await untilTrue(() => below(waiting).length === 2);
    expect(below(running).map(({ text, note }) => ({ text, note }))).toEqual([{ text: 'the first answer', note: '' }]);
    expect(below(waiting).map(({ text }) => text)).toEqual(['Stopped.', 'Stopped.']);
    expect(deployment.chat.calls).toHaveLength(1);
  });

  test('is ignored from another person, by text and by the button', async () => {
    deployment.chat.script(endless);
    await deployment.startBot();
    const ts = await deployment.sender.mention(place, 'a question');
    await untilTrue(grows);
    await deployment.sender.mention({ channel: 'C1', userId: 'U2', threadTs: ts }, '/stop');
    const said = { type: 'message', channel_type: 'channel', channel: 'C1', user: 'U2', text: '/stop', thread_ts: ts };
    await deployment.sender.event({ ...said, ts: '1760000009.000002' });
    await pressed(ts, below(ts)[0]?.ts ?? '', 'U2');
    await untilTrue(() => below(ts).some(({ text }) => text.startsWith('There is nothing to stop')));
    const before = below(ts)[0]?.text.length ?? 0;
    await untilTrue(() => (below(ts)[0]?.text.length ?? 0) > before);
    expect(below(ts)[0]).toMatchObject({ isStreaming: true, note: '' });
    await stopAgain(ts);
  });
});

/** Without this, the end of the test would wait for the grace time of the growing answer. */
async function stopAgain(ts: string): Promise<void> {
  await deployment.sender.mention({ ...place, threadTs: ts }, '/stop');
  await untilTrue(() => below(ts).every(({ isStreaming }) => !isStreaming));
}

/** Slack's event for its own stop button. */
const pressed = (threadTs: string, messageTs: string, user = 'U1') =>
  deployment.sender.event({
    type: 'agent_session_stopped',
    channel: 'C1',
    user,
    thread_ts: threadTs,
    streaming_message_ts: [messageTs],
    event_ts: '1760000009.000003',
  });

describe("the event of Slack's stop button [slack-assistant]", () => {
  test.each([
    ['immediately, not at the next append', 0],
    ['even if Slack has not confirmed its post yet', 1_000],
  ])('stops the answer %s', async (_how, answeredAfterMs) => {
    deployment.chat.script(endless);
    const late = { kind: 'late', afterMs: 0, isAnswered: true, answeredAfterMs } as const;
    deployment.slack.faults.set('chat.startStream', [late]);
    await deployment.startBot({ REPLY_MIN_EDIT_MS: '3000' });
    const ts = await deployment.sender.mention(place, 'a question');
    await untilTrue(() => below(ts).length === 1);
    const shownAtMs = below(ts)[0]?.snapshotAtMs[0] ?? 0;
    expect(await pressed(ts, below(ts)[0]?.ts ?? '')).toBe(200);
    await untilTrue(() => below(ts)[0]?.note === 'Stopped.');
    expect((below(ts)[0]?.snapshotAtMs.at(-1) ?? 0) - shownAtMs).toBeLessThan(2_500);
    expect(below(ts)).toHaveLength(1);
  });

  test('stops no later answer in the same thread, whether for an ended answer or repeated', async () => {
    deployment.chat.script(helloStream('short'), endless);
    await deployment.startBot();
    const ts = await deployment.sender.mention(place, 'a question');
    await untilTrue(() => below(ts)[0]?.isStreaming === false);
    await deployment.sender.mention({ ...place, threadTs: ts }, 'more');
    await untilTrue(() => below(ts)[1]?.text.includes('word2') === true);
    expect(await pressed(ts, below(ts)[0]?.ts ?? '')).toBe(200);
    await sleep(300);
    expect(below(ts)[1]).toMatchObject({ isStreaming: true, note: '' });
    // The same event again, as Slack repeats it. Its changed content is ignored, since the event was already handled.
    expect(await pressed(ts, below(ts)[1]?.ts ?? '')).toBe(200);
    await sleep(300);
    expect(below(ts)[1]).toMatchObject({ isStreaming: true, note: '' });
    await stopAgain(ts);
  });

  test('has its note set by an edit if the stream refuses its end because the person stopped it', async () => {
    deployment.chat.script(endless);
    await deployment.startBot();
    const ts = await deployment.sender.mention(place, 'a question');
    await untilTrue(grows);
    await sleep(100);
    deployment.slack.endStreams();
    deployment.slack.faults.set('chat.stopStream', [{ kind: 'error', error: 'stopped_by_user' }]);
    deployment.slack.faults.set('chat.appendStream', [{ kind: 'error', error: 'stopped_by_user' }]);
    await untilTrue(() => below(ts)[0]?.note === 'Stopped.');
  });
});
