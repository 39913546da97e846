import { afterAll, beforeEach, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { useSlackDeployment } from '../../support/slack-deployment.ts';
import { untilTrue } from '../../support/until-true.ts';
import { chunk, sse, type Answer } from '../model/scripted-chat-server.ts';

// What an answer costs, in exact counts, because times are unreliable on a busy machine.

const deployment = useSlackDeployment();
const folder = mkdtempSync(join(tmpdir(), 'answer-cost-'));
const counts = join(folder, 'counts');
/** Names of the scripts of the project by their SHA-1, learnt from the first call of each. */
const names = new Map<string, string>();

/** A whole answer in one packet. */
const whole: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`${chunk({ content: 'Whole.' }, 'stop')}${sse('[DONE]')}`);
};

/** An answer that ends once its beginning is shown and its place is stored. */
const streamed: Answer = async (response) => {
  const { slack, redis } = deployment;
  const shown = slack.messages.length + 1;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(chunk({ content: 'First ' }));
  await untilTrue(() => slack.messages.length === shown);
  const isStored = async (record: string) => ((await redis.hget(record, 'post:0')) ?? 'posting') !== 'posting';
  await untilTrue(async () => (await Promise.all((await redis.keys('*:message:*')).map(isStored))).every(Boolean));
  response.end(`${chunk({ content: 'and last.' }, 'stop')}${sse('[DONE]')}`);
};

beforeEach(async () => {
  const hook = pathToFileURL('test/support/count-crypto.mjs').href;
  writeFileSync(counts, '');
  await deployment.startProcess({ NODE_OPTIONS: `--import ${hook}`, CRYPTO_COUNTS: counts });
  // Later calls contain only the SHA-1 of a script.
  await costOf('UFIRST', whole, 'Whole.');
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Asks a question in a new conversation, and counts what happens until its turn is committed. */
async function costOf(person: string, answer: Answer, text: string) {
  const { slack, sender, chat, redisServer } = deployment;
  chat.script(answer);
  slack.calls.splice(0);
  writeFileSync(counts, '');
  const scripts: string[] = [];
  const endMonitor = await monitorRedis(redisServer.url, ([command = '', body = '', ...args]) => {
    if (!/^eval(?:sha)?$/i.test(command)) return;
    const name = /^-- ([\w-]+)\.lua/.exec(body)?.[1];
    if (name !== undefined) names.set(createHash('sha1').update(unescaped(body)).digest('hex'), name);
    // Scripts of the queue, and those of periodic tasks, have no key of a conversation's state.
    if (args.some((arg) => arg.includes(':state:'))) scripts.push(name ?? names.get(body) ?? body);
  });
  await sender.direct(person, 'a question');
  await deployment.untilShown(`D${person}`, [text]);
  await untilTrue(() => scripts.includes('commit'));
  endMonitor();
  const used = readFileSync(counts, 'utf8').split('\n');
  return {
    slack: slack.calls.map(({ method }) => method),
    // A slow machine renews the claim of the turn.
    scripts: scripts.filter((name) => name !== 'renew'),
    seals: used.filter((line) => line.startsWith('createCipheriv')).length,
    openings: used.filter((line) => line.startsWith('createDecipheriv')).length,
    rawKeys: used.filter((line) => line.endsWith(' raw')),
  };
}

/**
 * Reports each command that a client sends. A socket of its own, since the commands of other clients may follow the first
 * answer in the same packet, which ioredis does not expect. @returns a function that ends it
 */
async function monitorRedis(url: string, onCommand: (args: string[]) => void): Promise<() => void> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('latin1');
  let rest = '';
  socket.on('data', (piece: string) => {
    const lines = (rest + piece).split('\r\n');
    rest = lines.pop() ?? '';
    for (const line of lines)
      if (!/^\S+ \[\d+ lua\]/.test(line))
        onCommand([...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, arg = '']) => arg));
  });
  socket.write('MONITOR\r\n');
  await once(socket, 'data');
  return () => socket.destroy();
}

/** The bytes of an argument in the output of MONITOR. */
function unescaped(text: string): Buffer {
  const plain = text.replace(/\\(x([0-9a-f]{2})|.)/g, (_all, sign: string, hex: string | undefined) =>
    hex === undefined ? (ESCAPES[sign] ?? sign) : String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(plain, 'latin1');
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

test('a whole answer takes one post, four scripts, one opening and no raw key', async () => {
  expect(await costOf('UWHOLE', whole, 'Whole.')).toEqual({
    slack: ['chat.postMessage'],
    scripts: ['accept', 'claim', 'post', 'commit'],
    // Message, reply target, stored answer, and history of the chat and of the thread that the answer begins.
    seals: 5,
    openings: 1,
    rawKeys: [],
  });
});

test('an answer in two pieces takes one post, its end, and six scripts', async () => {
  const { slack, scripts, rawKeys } = await costOf('USTREAM', streamed, 'First and last.');
  expect(slack).toEqual(['chat.startStream', 'chat.stopStream']);
  // Fence before the first token; place of the post, so that another worker continues in it; fence with the sealed answer.
  expect(scripts).toEqual(['accept', 'claim', 'post', 'post', 'post', 'commit']);
  expect(rawKeys).toEqual([]);
});
