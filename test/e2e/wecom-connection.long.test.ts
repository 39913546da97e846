import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import { chunk, startScriptedChatServer, type ScriptedChatServer } from '../bot/model/scripted-chat-server.ts';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { startDeployment, untilTrue, type Deployment } from '../support/deployment.ts';
import { startParleyProcess, type ParleyProcess } from '../support/parley-process.ts';
import { startRawConnections, type RawConnections } from '../support/raw-wecom-connections.ts';

// Many answers that grow at the same time over one connection, as slow as WeCom acknowledges frames, within its limits.

const PRIVATE_CHATS = 500;
/** More than WeCom takes in one conversation in a minute. */
const IN_ONE_GROUP = 40;
const MAX_A_MINUTE = 30;
const ALL = PRIVATE_CHATS + IN_ONE_GROUP;
const WORDS = 60;
const WORD_EVERY_MS = 500;
const ASKED_A_SECOND = 50;
const FRAME_ANSWERED_AFTER_MS = 300;

let deployment: Deployment;
let wecom: RawConnections;
let chat: ScriptedChatServer;
const processes: ParleyProcess[] = [];
const firstTokenMs = new Map<number, number>();
const firstTextMs = new Map<number, number>();

beforeAll(async () => {
  chat = await startScriptedChatServer();
  wecom = await startRawConnections();
  deployment = await startDeployment({
    isConnected: true,
    startsBot: false,
    env: { SIGN_IN: 'off', SIGN_IN_PROOF: '' },
  });
}, 60_000);
afterAll(async () => {
  for (const one of processes) one.kill('SIGKILL');
  await deployment.stop();
  await wecom.stop();
  await chat.stop();
});

test('540 answers that grow at the same time over one connection all end complete, within the limits of each conversation', async () => {
  chat.script(async (response, { body }) => {
    const asked = JSON.stringify(body['messages']);
    const id = Number(/.*\bQ(\d+)/.exec(asked)?.[1]);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let word = 1; word <= WORDS; word += 1) {
      if (word === 1) firstTokenMs.set(id, performance.now());
      response.write(chunk({ content: `A${id}w${word} ` }));
      await pause(WORD_EVERY_MS);
    }
    response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
  });
  let refused = 0;
  const begun = new Map<string, number[]>();
  const seen = new Set<string>();
  wecom.judge = ({ cmd, reqId, body }) => {
    if (cmd !== 'aibot_respond_msg') return 0;
    const { id: streamId, content } = body['stream'] as { id: string; content: string };
    const id = Number(reqId.slice(1));
    if (content !== '' && !firstTextMs.has(id)) firstTextMs.set(id, performance.now());
    if (!seen.has(streamId)) {
      seen.add(streamId);
      const place = id > PRIVATE_CHATS ? 'group' : reqId;
      const times = (begun.get(place) ?? []).filter((atMs) => performance.now() - atMs < 60_000);
      begun.set(place, [...times, performance.now()]);
      if (times.length >= MAX_A_MINUTE) {
        refused += 1;
        return 846_607;
      }
    }
    return { errcode: 0, afterMs: FRAME_ANSWERED_AFTER_MS };
  };
  const env = {
    ...deployment.env,
    ...{ WECOM_WS_URL: wecom.url, CHAT_BASE_URL: chat.baseUrl, WORKER_CONCURRENCY: '700', LOG_LEVEL: 'warn' },
  };
  for (const roles of ['receiver', 'worker'])
    processes.push(
      await startParleyProcess({
        env: { ...env, ROLES: roles, PORT: String(await freePort()) },
        until: /is running|has started/,
      }),
    );
  await untilTrue(() => wecom.isSubscribed);
  for (let id = 1; id <= ALL; id += 1) {
    const group = id > PRIVATE_CHATS ? { chatId: 'wrgroup' } : {};
    wecom.say(`@Parley Q${id}`, { msgid: `M${id}`, reqId: `r${id}`, userId: `person${id}`, ...group });
    await pause(1_000 / ASKED_A_SECOND);
  }
  const lastOf = (id: number) =>
    wecom.frames.findLast(({ reqId, cmd }) => cmd === 'aibot_respond_msg' && reqId === `r${id}`);
  const ids = Array.from({ length: ALL }, (_, index) => index + 1);
  const streamOf = (id: number) => lastOf(id)?.body['stream'] as { finish: boolean; content: string } | undefined;
  for (const id of ids) await untilTrue(() => streamOf(id)?.finish === true, 240_000);
  for (const id of ids) expect(streamOf(id)?.content.trim().endsWith(`A${id}w${WORDS}`)).toBe(true);
  expect(refused).toBe(0);
  expect(wecom.subscribed).toBe(1);
  expect(wecom.pushes()).toEqual([]);
  const lateMs = ids
    .slice(0, PRIVATE_CHATS)
    .map((id) => (firstTextMs.get(id) ?? Number.NaN) - (firstTokenMs.get(id) ?? Number.NaN))
    .sort((left, right) => left - right);
  const at = (part: number) => lateMs[Math.floor((lateMs.length - 1) * part)]?.toFixed(0);
  process.stdout.write(
    `first text after the model's first token: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms; ${wecom.frames.length} frames for ${ALL} answers\n`,
  );
}, 400_000);
