import { describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { helloStream } from '../bot/model/scripted-chat-server.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';

const deployment = useSlackDeployment();
const place = { channel: 'C1', userId: 'U1' };
const follows = { THREAD_FOLLOW: 'yes' };
/** The bot's messages below a question of the channel, the oldest first. */
const below = (ts: string) => deployment.slack.messages.filter((message) => message.threadTs === ts);
let said = 0;

/**
 * A person's message in a channel thread, as the single event that a bot receives if it is not mentioned. @returns the HTTP
 * status
 */
function say(threadTs: string, text: string, extra: object = {}): Promise<number> {
  said += 1;
  const ts = `1760000020.${String(said).padStart(6, '0')}`;
  const event = { type: 'message', channel_type: 'channel', channel: 'C1', user: 'U1', text, ts, thread_ts: threadTs };
  return deployment.sender.event({ ...event, ...extra });
}

async function answeredThread(): Promise<string> {
  deployment.chat.script(...Array.from({ length: 6 }, (_, at) => helloStream(`answer ${at}`)));
  await deployment.startBot(follows);
  const ts = await deployment.sender.mention(place, 'the first question');
  await untilTrue(() => below(ts)[0]?.isStreaming === false);
  // The commit, which records this, follows the last snapshot.
  await untilTrue(async () => {
    const [note = ''] = await deployment.redis.keys('*:followed:*');
    return (await deployment.redis.get(note)) === '1';
  });
  return ts;
}

/** The number of questions that reached the model, after a wait for late ones. */
async function asked(): Promise<number> {
  await sleep(400);
  return deployment.chat.calls.length;
}

const questions = () =>
  deployment.chat.calls.map(({ body }) => {
    const { messages } = body as { messages: { content: unknown }[] };
    return JSON.stringify(messages.at(-1)?.content);
  });

describe('a thread in which the bot has answered [unaddressed-talk]', () => {
  test('continues without a mention, for each writer as themself, and once per message', async () => {
    const ts = await answeredThread();
    const again = { ts: '1760000021.000001' };
    await Promise.all([say(ts, 'and then?', again), say(ts, 'and then?', again)]);
    await untilTrue(() => below(ts).length === 2);
    await say(ts, 'what do I think?', { user: 'U2' });
    await untilTrue(() => below(ts).length === 3);
    expect(await asked()).toBe(3);
    expect(questions()[1]).toContain('and then?');
    const tags = questions().map((question) => /member-[0-9a-f]+/.exec(question)?.[0]);
    expect(tags[1]).toBe(tags[0]);
    expect(tags[2]).not.toBe(tags[0]);
  }, 60_000);

  test('is ignored for messages that mention others, are also sent to the channel, or come from a bot', async () => {
    const ts = await answeredThread();
    expect(await say(ts, 'what do you say, <@U2>?')).toBe(200);
    await say(ts, '<!here> look');
    await say(ts, '<!subteam^S1> look');
    await say(ts, 'for all', { subtype: 'thread_broadcast' });
    await say(ts, 'I am a bot', { bot_id: 'B2' });
    await say(ts, 'joined', { subtype: 'channel_join' });
    expect(await asked()).toBe(1);
    expect(below(ts)).toHaveLength(1);
  }, 60_000);

  test('treats a mention as one question, whichever of its two events comes first', async () => {
    const ts = await answeredThread();
    await deployment.sender.mention({ ...place, threadTs: ts }, 'and now?');
    await untilTrue(() => below(ts).length === 2);
    expect(await asked()).toBe(2);
  }, 60_000);

  test('continues for a reply that arrives after the visible end of the answer but before Slack acknowledges it', async () => {
    deployment.chat.script(helloStream('the first answer'), helloStream('the second answer'));
    await deployment.startBot(follows);
    deployment.slack.faults.set('chat.stopStream', [
      { kind: 'late', afterMs: 0, isAnswered: true, answeredAfterMs: 500 },
    ]);
    const ts = await deployment.sender.mention(place, 'the first question');
    await untilTrue(() => below(ts)[0]?.isStreaming === false);
    expect(await say(ts, 'and then?')).toBe(200);
    await untilTrue(() => below(ts).length === 2);
    const { messages } = deployment.chat.calls[1]?.body as { messages: unknown[] };
    expect(JSON.stringify(messages)).toContain('the first answer');
  }, 60_000);

  test('accepts slash words: retry asks the question again', async () => {
    const ts = await answeredThread();
    await say(ts, 'retry');
    await untilTrue(() => below(ts).some(({ text }) => text.includes('answered below')));
    expect(await asked()).toBe(2);
  }, 60_000);
});

test('messages elsewhere that do not name the bot are dropped, neither stored nor logged [unaddressed-talk]', async () => {
  const ts = await answeredThread();
  const stored = async () =>
    (await deployment.redis.keys('{p*}:*')).filter((key) => /:(?:message|inbox):/.test(key)).sort();
  const before = await stored();
  expect(before).not.toEqual([]);
  deployment.lines.splice(0);
  expect(await say('1760000001.999999', 'SECRETTALK of others')).toBe(200);
  const top = {
    type: 'message',
    channel_type: 'channel',
    channel: 'C1',
    user: 'U2',
    text: 'SECRETTALK',
    ts: '1760000022.000001',
  };
  expect(await deployment.sender.event(top)).toBe(200);
  expect(await deployment.sender.event({ ...top, thread_ts: top.ts })).toBe(200);
  expect(await asked()).toBe(1);
  expect(await stored()).toEqual(before);
  expect(deployment.lines.join('\n')).not.toContain('SECRETTALK');
  expect(below(ts)).toHaveLength(1);
}, 60_000);

test('a thread is followed only while the setting is on, even if it was followed before [unaddressed-talk]', async () => {
  const ts = await answeredThread();
  await deployment.stopBots();
  const notes = await deployment.redis.keys('*:followed:*');
  await deployment.startBot();
  await say(ts, 'and then?');
  const other = await deployment.sender.mention(place, 'another question');
  await untilTrue(() => below(other)[0]?.isStreaming === false);
  expect(await asked()).toBe(2);
  expect(await deployment.redis.keys('*:followed:*')).toEqual(notes);
}, 60_000);

test('the record of an answered thread expires [unaddressed-talk]', async () => {
  await answeredThread();
  const [note = ''] = await deployment.redis.keys('*:followed:*');
  const lifeMs = await deployment.redis.pttl(note);
  expect(lifeMs).toBeGreaterThan(0);
  expect(lifeMs).toBeLessThanOrEqual(3 * 86_400_000);
}, 60_000);
