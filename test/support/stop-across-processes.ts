import { setTimeout as sleep } from 'node:timers/promises';
import { chunk, type Answer } from '../bot/model/scripted-chat-server.ts';
import type { SlackDeployment } from './slack-deployment.ts';
import { untilTrue } from './deployment.ts';
import { createWecomSender, wecomText, type WecomSender } from './wecom-sender.ts';

/** The way to request a stop: the word in WeCom, the word in Slack, or Slack's own button. */
export type WayToStop = 'wecom' | 'slack' | 'button';

const WECOM = { token: 'stop-test-token', aesKey: 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG' };
const MAX_WAIT_MS = 15_000;
const POLL_EVERY_MS = 5;
/** The text of the model: complete words in order from the first, and nothing else before the mark. */
const SAID = 'word1 word2 word3';

/** Streams a word every 30 ms until the caller disconnects. */
export const endless: Answer = async (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let word = 1; !response.destroyed; word += 1) {
    response.write(chunk({ content: `word${word} ` }));
    await sleep(30);
  }
};

/**
 * One bot in three processes: a receiver and two workers, on WeCom and Slack at once, with the real delays of the platforms.
 */
export async function startThreeProcesses(deployment: SlackDeployment): Promise<WecomSender> {
  deployment.chat.script(endless);
  const env = {
    WECOM_BOT_TOKEN: WECOM.token,
    WECOM_BOT_AES_KEY: WECOM.aesKey,
    WECOM_BOT_NAME: 'Parley',
    REPLY_MIN_EDIT_MS: '',
  };
  const roles = ['receiver', 'worker', 'worker'];
  await Promise.all(roles.map((role) => deployment.startProcess({ ...env, ROLES: role })));
  return createWecomSender({ botUrl: deployment.botUrl, ...WECOM });
}

/**
 * Asks a question, waits until its answer grows, stops it, and waits for the answer's last snapshot, marked as stopped.
 * @param userId a person without another stop in this run
 * @returns milliseconds from sending the stop to that snapshot
 */
export async function stopOnce(
  deployment: SlackDeployment,
  wecom: WecomSender,
  way: WayToStop,
  userId: string,
): Promise<number> {
  return way === 'wecom' ? stopOnWecom(wecom, userId) : stopOnSlack(deployment, way, userId);
}

async function stopOnWecom(wecom: WecomSender, userId: string): Promise<number> {
  const asked = readStream((await wecom.send(wecomText('a question', userId))).answer);
  const poll = async () => {
    const snapshot = { ...wecomText('', userId), msgtype: 'stream', text: undefined, stream: { id: asked.id } };
    const dbg = await wecom.send(snapshot);
    return readStream(dbg.answer);
  };
  await untilTrue(async () => (await poll()).content.includes(SAID), MAX_WAIT_MS);
  const sentAtMs = performance.now();
  const stopping = wecom.send(wecomText('/stop', userId));
  let last = await poll();
  while (!last.finish && performance.now() - sentAtMs < MAX_WAIT_MS) {
    await sleep(POLL_EVERY_MS);
    last = await poll();
  }
  const tookMs = performance.now() - sentAtMs;
  await stopping;
  if (!last.content.includes(SAID) || !last.content.includes('Stopped.'))
    throw new Error(`The last snapshot is not what was said, marked as stopped: ${last.content}`);
  return tookMs;
}

async function stopOnSlack(deployment: SlackDeployment, way: 'slack' | 'button', userId: string): Promise<number> {
  const channel = `D${userId}`;
  await deployment.sender.direct(userId, 'a question');
  await untilTrue(() => deployment.textsIn(channel).join('').includes(SAID), MAX_WAIT_MS);
  const sentAtMs = Date.now();
  if (way === 'slack') await deployment.sender.direct(userId, '/stop');
  else deployment.slack.faults.set('chat.appendStream', [{ kind: 'error', error: 'stopped_by_user' }]);
  const answer = () => deployment.slack.messages.find((message) => message.channel === channel);
  const isStopped = () => {
    const { isStreaming, note, text = '' } = answer() ?? {};
    return isStreaming === false && note === 'Stopped.' && text.startsWith(SAID);
  };
  await untilTrue(isStopped, MAX_WAIT_MS).catch(() => {
    throw new Error(`The last snapshot is not what was said, marked as stopped: ${JSON.stringify(answer())}`);
  });
  return (answer()?.snapshotAtMs.at(-1) ?? Number.POSITIVE_INFINITY) - sentAtMs;
}

interface StreamSnapshot {
  id: string;
  content: string;
  finish: boolean;
}

function readStream(answer: unknown): StreamSnapshot {
  const { stream } = answer as { stream: Partial<StreamSnapshot> };
  return { id: stream.id ?? '', content: stream.content ?? '', finish: stream.finish === true };
}
