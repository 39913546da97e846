import { describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { chunk, helloStream, type Answer } from '../bot/model/scripted-chat-server.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';

const deployment = useSlackDeployment();
const place = { channel: 'C1', userId: 'U1' };
const texts = () => deployment.textsIn('DU1');
const note = () => deployment.slack.messages.at(-1)?.note;
let edits = 0;

/** Answers with a few words, then pauses until it is released. */
function slowAnswer(beginning: string): { answer: Answer; end(): void } {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const answer: Answer = async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk({ content: beginning }));
    await ended;
    if (!response.destroyed) response.end(`${chunk({ content: ' and its end' }, 'stop')}data: [DONE]\n\n`);
  };
  return { answer, end };
}

const inPrivate = { channel: 'DU1', channel_type: 'im' };
const inChannel = { channel: 'C1', channel_type: 'channel' };

function deleted(ts: string, text: string, where: object = inPrivate, more: object = {}): Promise<number> {
  const previous = { type: 'message', user: 'U1', text, ts, ...more };
  const event = { type: 'message', subtype: 'message_deleted', ...where, hidden: true, deleted_ts: ts };
  return deployment.sender.event({ ...event, ts: '1760000030.000001', previous_message: previous });
}

/** Slack keeps the first message of a thread as a tombstone. */
function deletedBelowAnswers(ts: string, text: string): Promise<number> {
  const stone = { type: 'message', subtype: 'tombstone', user: 'USLACKBOT', text: 'This message was deleted.' };
  return deployment.sender.event({
    ...{ type: 'message', subtype: 'message_changed', ...inChannel, hidden: true, ts: '1760000030.000002' },
    message: { ...stone, ts, thread_ts: ts, hidden: true },
    previous_message: { type: 'message', user: 'U1', text: `<@UBOT> ${text}`, ts, thread_ts: ts },
  });
}

function edited(ts: string, [from, to]: [string, string], { editedTs = '' } = {}) {
  edits += 1;
  const after = { type: 'message', user: 'U1', text: to, ts };
  return deployment.sender.event({
    ...{ type: 'message', subtype: 'message_changed', ...inPrivate, hidden: true, ts: '1760000030.000003' },
    message: {
      ...after,
      edited: { user: 'U1', ts: editedTs || `176000003${edits % 10}.${String(edits).padStart(6, '0')}` },
    },
    previous_message: { ...after, text: from },
  });
}

const prompts = () => deployment.chat.calls.map(({ body }) => JSON.stringify(body));
const callsAfter = async (quietMs = 400) => {
  await sleep(quietMs);
  return deployment.chat.calls.length;
};

describe('a deleted question [taken-back]', () => {
  test('is not answered if it was waiting, and shows nothing even if it was to be merged with another', async () => {
    const first = slowAnswer('the first');
    deployment.chat.script(first.answer, helloStream('the others'));
    await deployment.startBot({ SLACK_REPLY: 'edit' });
    await deployment.sender.direct('U1', 'one');
    await untilTrue(() => texts()[0] === 'the first');
    const gone = await deployment.sender.direct('U1', 'BANANAS');
    await deployment.sender.direct('U1', 'three');
    expect(await deleted(gone, 'BANANAS')).toBe(200);
    expect(await deleted(gone, 'BANANAS')).toBe(200);
    first.end();
    await deployment.untilShown('DU1', ['the first and its end', 'the others']);
    expect(await callsAfter()).toBe(2);
    expect(prompts()[1]).toContain('three');
    expect(prompts().join('')).not.toContain('BANANAS');
  }, 60_000);

  test('is never answered if its deletion arrives first, however often it is delivered', async () => {
    await deployment.startBot();
    const ts = '1760000040.000001';
    expect(await deleted(ts, 'a question')).toBe(200);
    const said = { type: 'message', ...inPrivate, user: 'U1', text: 'a question', ts };
    expect(await deployment.sender.event(said)).toBe(200);
    expect(await deployment.sender.event(said)).toBe(200);
    expect(await callsAfter()).toBe(0);
    expect(texts()).toEqual([]);
  }, 60_000);

  test.each(['stream', 'edit'])(
    'stops its running answer and deletes the beginning that was shown (%s)',
    async (reply) => {
      const slow = slowAnswer('the beginning');
      deployment.chat.script(slow.answer, helloStream('the next'));
      await deployment.startBot({ SLACK_REPLY: reply });
      const ts = await deployment.sender.direct('U1', 'BANANAS');
      await untilTrue(() => texts()[0] === 'the beginning');
      await deleted(ts, 'BANANAS', inPrivate, { thread_ts: ts });
      expect(await deployment.chat.calls[0]?.closed).toBe('cut');
      await untilTrue(() => texts().length === 0);
      await deployment.sender.direct('U1', 'the next question');
      await deployment.untilShown('DU1', ['the next']);
      expect(prompts()[1]).not.toContain('BANANAS');
    },
    60_000,
  );

  test('ends a long partial answer with a note, and leaves the history', async () => {
    const slow = slowAnswer('word '.repeat(60));
    deployment.chat.script(slow.answer, helloStream('the next'));
    await deployment.startBot({ SLACK_REPLY: 'edit' });
    const ts = await deployment.sender.direct('U1', 'BANANAS');
    await untilTrue(() => texts().length === 1);
    await deleted(ts, 'BANANAS');
    await untilTrue(() => note() === 'Stopped.');
    expect(texts()[0]).toContain('word word');
    await deployment.sender.direct('U1', 'the next question');
    await untilTrue(() => texts().length === 2);
    expect(prompts()[1]).not.toContain('BANANAS');
  }, 60_000);

  test('keeps its finished answer but leaves the history of the channel and of the thread below it', async () => {
    deployment.chat.script(helloStream('the answer'), helloStream('in the thread'), helloStream('in the channel'));
    await deployment.startBot();
    const ts = await deployment.sender.mention(place, 'BANANAS');
    await deployment.untilShown('C1', ['the answer']);
    await untilTrue(async () => (await deployment.redis.keys('*:history:*')).length === 2);
    expect(await deletedBelowAnswers(ts, 'BANANAS')).toBe(200);
    expect(await deletedBelowAnswers(ts, 'BANANAS')).toBe(200);
    await deployment.sender.mention({ ...place, threadTs: ts }, 'and then?');
    await deployment.sender.mention(place, 'and here?');
    await untilTrue(() => deployment.textsIn('C1').length === 3);
    expect(deployment.textsIn('C1')[0]).toBe('the answer');
    expect(prompts()).toHaveLength(3);
    expect(prompts().slice(1).join('')).not.toContain('BANANAS');
  }, 60_000);

  test('leaves the history together with its second answer if it was asked again', async () => {
    deployment.chat.script(helloStream('the answer'), helloStream('the second'), helloStream('the next'));
    await deployment.startBot({ SLACK_REPLY: 'edit' });
    const ts = await deployment.sender.direct('U1', 'BANANAS');
    await untilTrue(() => texts().length === 1);
    await deployment.sender.direct('U1', 'retry');
    await untilTrue(() => texts().includes('the second'));
    await sleep(200);
    await deleted(ts, 'BANANAS');
    await deployment.sender.direct('U1', 'the next question');
    await untilTrue(() => texts().includes('the next'));
    expect(prompts()[2]).not.toContain('BANANAS');
  }, 60_000);
});

describe('an edited question [taken-back]', () => {
  test('is answered with its new text if it was waiting', async () => {
    const first = slowAnswer('the first');
    deployment.chat.script(first.answer, helloStream('the second'));
    await deployment.startBot({ SLACK_REPLY: 'edit' });
    await deployment.sender.direct('U1', 'one');
    await untilTrue(() => texts()[0] === 'the first');
    const ts = await deployment.sender.direct('U1', 'BANANAS');
    expect(await edited(ts, ['BANANAS', 'CHERRIES'])).toBe(200);
    first.end();
    await deployment.untilShown('DU1', ['the first and its end', 'the second']);
    expect(prompts()[1]).toContain('CHERRIES');
    expect(prompts()[1]).not.toContain('BANANAS');
  }, 60_000);

  test('is answered once with its new text if the edit arrives first', async () => {
    deployment.chat.script(helloStream('the answer'));
    await deployment.startBot();
    const ts = '1760000041.000001';
    expect(await edited(ts, ['BANANAS', 'CHERRIES'])).toBe(200);
    await deployment.sender.event({ type: 'message', ...inPrivate, user: 'U1', text: 'BANANAS', ts });
    await deployment.untilShown('DU1', ['the answer']);
    expect(await callsAfter()).toBe(1);
    expect(prompts()[0]).toContain('CHERRIES');
  }, 60_000);

  test.each(['stream', 'edit'])(
    'restarts its running answer once in the same message (%s)',
    async (reply) => {
      const slow = slowAnswer('about bananas');
      deployment.chat.script(slow.answer, helloStream('about cherries'), helloStream('the next'));
      await deployment.startBot({ SLACK_REPLY: reply });
      const ts = await deployment.sender.direct('U1', 'BANANAS');
      await untilTrue(() => texts()[0] === 'about bananas');
      const editedTs = '1760000055.000001';
      await edited(ts, ['BANANAS', 'CHERRIES'], { editedTs });
      await edited(ts, ['BANANAS', 'CHERRIES'], { editedTs });
      await edited(ts, ['BANANAS', 'APPLES'], { editedTs: '1760000054.000001' });
      await deployment.untilShown('DU1', ['about cherries']);
      await sleep(300);
      await deployment.sender.direct('U1', 'the next question');
      await deployment.untilShown('DU1', ['about cherries', 'the next']);
      expect(prompts()).toHaveLength(3);
      expect(prompts()[1]).toContain('CHERRIES');
      expect(prompts()[2]).not.toContain('BANANAS');
      expect(prompts()[2]).toContain('CHERRIES');
      expect(deployment.slack.calls.filter(({ method }) => method === 'chat.postEphemeral')).toEqual([]);
    },
    60_000,
  );

  test('runs nothing after its answer; its sender alone is told once how to ask again, and a retry uses the new text', async () => {
    deployment.chat.script(helloStream('about bananas'), helloStream('about cherries'));
    await deployment.startBot({ SLACK_REPLY: 'edit' });
    const ts = await deployment.sender.direct('U1', 'BANANAS');
    await deployment.untilShown('DU1', ['about bananas']);
    await sleep(200);
    const editedTs = '1760000060.000001';
    await edited(ts, ['BANANAS', 'CHERRIES'], { editedTs });
    await edited(ts, ['BANANAS', 'CHERRIES'], { editedTs });
    expect(await callsAfter()).toBe(1);
    const told = deployment.slack.calls.filter(({ method }) => method === 'chat.postEphemeral');
    expect(told.map(({ args }) => args)).toEqual([
      { channel: 'DU1', user: 'U1', text: expect.stringContaining('Send “retry” to get an answer to the new text') },
    ]);
    await deployment.sender.direct('U1', 'retry');
    await untilTrue(() => texts().includes('about cherries'));
    expect(prompts()[1]).toContain('CHERRIES');
    expect(prompts()[1]).not.toContain('BANANAS');
  }, 60_000);

  test('is not affected by edits of Slack itself, such as link previews', async () => {
    const slow = slowAnswer('the beginning');
    deployment.chat.script(slow.answer);
    await deployment.startBot();
    const ts = await deployment.sender.direct('U1', 'see https://example.org');
    await untilTrue(() => texts()[0] === 'the beginning');
    const said = { type: 'message', user: 'U1', text: 'see https://example.org', ts };
    const event = { type: 'message', subtype: 'message_changed', ...inPrivate, hidden: true, ts: '1760000030.000004' };
    await deployment.sender.event({ ...event, message: { ...said, attachments: [{}] }, previous_message: said });
    await deployment.sender.event({
      ...event,
      message: { ...said, text: 'otherwise written' },
      previous_message: said,
    });
    slow.end();
    await deployment.untilShown('DU1', ['the beginning and its end']);
    expect(await callsAfter()).toBe(1);
  }, 60_000);
});
