import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { got } from 'got';
import { gzipSync } from 'node:zlib';
import { startDeployment, untilTrue, type Deployment } from '../../support/deployment.ts';
import { createWecomSender, wecomText, type WecomSender } from '../../support/wecom-sender.ts';

let deployment: Deployment;
let sender: WecomSender;
let provenAtStart: number;

beforeAll(async () => {
  deployment = await startDeployment({ env: { SIGN_IN: 'off' } });
  provenAtStart = countProven();
  sender = createWecomSender({
    botUrl: deployment.botUrl,
    token: deployment.env['WECOM_BOT_TOKEN'] ?? '',
    aesKey: deployment.env['WECOM_BOT_AES_KEY'] ?? '',
  });
}, 60_000);
afterAll(() => deployment.stop());
beforeEach(async () => {
  // What earlier tests asked is answered before the next one counts.
  await untilTrue(async () => (await deployment.redis.keys('{p*}:pending')).length === 0);
  deployment.lines.splice(0);
});

const countProven = () =>
  deployment.lines.filter((line) => line.includes('the first delivery since the start was verified')).length;
const chatCalls = () => deployment.lines.filter((line) => line.includes('chat call')).length;
const replyOf = (answer: unknown) => (answer as { stream: { id: string; finish: boolean; content: string } }).stream;

test('a message is stored and answered with an open stream [raw-bytes-only]', async () => {
  const { status, answer } = await sender.send(wecomText('hello'));
  expect(status).toBe(200);
  expect(replyOf(answer)).toMatchObject({ finish: false });
  expect(replyOf(answer).id).toMatch(/^[0-9a-f]{40}$/);
});

test('a wrong, absent or repeated signature, and a stale one, are 401 and reach no model [quiet-ignorance]', async () => {
  const old = Math.floor(Date.now() / 1000) - 301;
  for (const change of [
    { signature: '0'.repeat(40) },
    { signature: '' },
    { search: '' },
    { search: '?msg_signature=a&msg_signature=b&timestamp=1&nonce=2' },
    { timestampSec: old },
    { timestampSec: old + 700 },
  ]) {
    expect((await sender.send(wecomText('forged'), change)).status).toBe(401);
  }
  expect(chatCalls()).toBe(0);
});

test('whoever opens the address in a browser reads what it is for, and a forged delivery nothing', async () => {
  const address = `${deployment.botUrl}/webhooks/wecom`;
  const opened = await got(address, { throwHttpErrors: false });
  expect(opened.statusCode).toBe(401);
  expect(opened.headers['content-type']).toBe('text/plain; charset=utf-8');
  expect(opened.body).toContain('You have reached Parley');
  expect(opened.body).toContain('已连接到 Parley');
  expect((await got.post(address, { json: {}, throwHttpErrors: false })).body).toBe('');
});

test('a body over 1 MiB is 413, a compressed one 415, and the door stays open [bounded-requests]', async () => {
  expect((await sender.send({}, { body: Buffer.alloc(1024 * 1024 + 1, 'x') })).status).toBe(413);
  for (const sizeBytes of [8, 64].map((mib) => mib * 1024 * 1024)) {
    expect((await sender.send({}, { body: Buffer.alloc(sizeBytes, 'x') })).status).toBe(413);
  }
  const packed = gzipSync('{"encrypt":"x"}');
  expect((await sender.send({}, { body: packed, headers: { 'content-encoding': 'gzip' } })).status).toBe(415);
  expect((await sender.send(wecomText('still here'))).status).toBe(200);
});

test('a webhook takes GET and POST, and no other address is one [raw-bytes-only]', async () => {
  const ask = (method: 'PUT' | 'DELETE' | 'HEAD' | 'POST', path: string) =>
    got(`${deployment.botUrl}${path}`, { method, throwHttpErrors: false, retry: { limit: 0 } });
  for (const method of ['PUT', 'DELETE', 'HEAD'] as const) {
    const answer = await ask(method, '/webhooks/wecom');
    expect([answer.statusCode, answer.headers.allow]).toEqual([405, 'GET, POST']);
  }
  for (const path of ['/webhooks/', '/webhooks/nobody', '/webhooks/wecom/more', '/webhookswecom'])
    expect((await ask('POST', path)).statusCode).toBe(404);
});

test('what cannot be parsed before a signature could be checked is 400', async () => {
  for (const body of ['', '{', '[]', '{"encrypt":1}', '<xml></xml>', Buffer.from([0xff, 0xfe, 0x00])]) {
    expect((await sender.send({}, { body })).status).toBe(400);
  }
});

test('signed nonsense, unknown kinds and events are acknowledged and reach no model [quiet-ignorance]', async () => {
  const base = wecomText('x');
  for (const message of [
    { ...base, msgtype: 'hologram' },
    { ...base, msgtype: 'event', event: { eventtype: 'unheard_of' } },
    { ...base, from: { userid: 'sys' } },
    { ...base, chattype: 'group' },
    { ...base, text: { content: 7 } },
    {},
    [],
    null,
  ]) {
    expect((await sender.send(message)).status).toBe(200);
  }
  for (const plain of ['not json', '', Buffer.from([0xc3, 0x28])]) {
    const { status } = await sender.send({}, { plain });
    expect(status).toBeGreaterThanOrEqual(200);
    expect(status).toBeLessThan(500);
  }
  expect(chatCalls()).toBe(0);
});

test('property: no signed JSON, whatever its shape, is answered with an error or ends the process', async () => {
  const message = fc.record(
    {
      msgid: fc.oneof(fc.string(), fc.jsonValue()),
      chattype: fc.oneof(fc.constantFrom('single', 'group'), fc.jsonValue()),
      chatid: fc.jsonValue(),
      from: fc.oneof(fc.record({ userid: fc.jsonValue() }), fc.jsonValue()),
      msgtype: fc.oneof(fc.constantFrom('text', 'image', 'mixed', 'voice', 'file', 'stream', 'event'), fc.jsonValue()),
      text: fc.oneof(fc.record({ content: fc.jsonValue() }), fc.jsonValue()),
      image: fc.jsonValue(),
      mixed: fc.jsonValue(),
      stream: fc.jsonValue(),
      event: fc.jsonValue(),
      quote: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(message, async (shape) => {
      expect((await sender.send(shape)).status).toBe(200);
    }),
    { numRuns: 150 },
  );
  expect((await got(`${deployment.botUrl}/healthz`)).statusCode).toBe(200);
});

test('a repeated delivery is answered with the same stream and asks the model once [accept-once]', async () => {
  const message = wecomText('count to 3');
  const answers = await Promise.all([sender.send(message), sender.send(message), sender.send(message)]);
  expect(new Set(answers.map(({ answer }) => replyOf(answer).id)).size).toBe(1);
  const id = replyOf(answers[0].answer).id;
  const poll = { ...message, msgid: 'poll', msgtype: 'stream', text: undefined, stream: { id } };
  await untilTrue(async () => replyOf((await sender.send(poll)).answer).finish);
  expect(replyOf((await sender.send(poll)).answer).content.trim()).toBe('1 2 3');
  expect(replyOf((await sender.send(message)).answer).content.trim()).toBe('1 2 3');
  expect(chatCalls()).toBe(1);
});

const pollFor = (id: string, userid: string) =>
  sender.send({ ...wecomText('', userid), msgtype: 'stream', stream: { id } }).then(({ answer }) => replyOf(answer));

test('a poll for an unknown stream, and for another person’s, shows nothing, and the same of both', async () => {
  const { answer } = await sender.send(wecomText('mine', 'zhangwei'));
  const unknown = await pollFor('f'.repeat(40), 'zhangwei');
  const foreign = await pollFor(replyOf(answer).id, 'linxiaoyu');
  for (const { content, finish } of [unknown, foreign])
    expect({ content, finish }).toEqual({ content: '', finish: false });
});

test('a message that Redis lost with its master is not told to be gone before it is stored again; then the same stream shows its answer', async () => {
  const message = wecomText('count to 3', 'patient');
  const { id } = replyOf((await sender.send(message)).answer);
  await untilTrue(async () => (await pollFor(id, 'patient')).finish);
  await deployment.redis.del(await deployment.redis.keys(`{p*}:message:${id}`));
  expect(await pollFor(id, 'patient')).toMatchObject({ content: '', finish: false });
  await sender.send(message);
  await untilTrue(async () => (await pollFor(id, 'patient')).finish);
  expect((await pollFor(id, 'patient')).content.trim()).toBe('1 2 3');
});

test('who writes too fast is told so in the answer itself [rate-limits]', async () => {
  const results = [];
  for (let sent = 0; sent < 22; sent += 1) results.push(await sender.send(wecomText('quick', 'hasty')));
  const last = replyOf(results.at(-1)?.answer);
  expect(last.finish).toBe(true);
  expect(last.content).toMatch(/Too many messages/);
  expect(results.every(({ status }) => status === 200)).toBe(true);
});

test('with Redis frozen a delivery is 503 within 2 s and not stored; 200 again within 5 s of its return [acknowledged-when-stored]', async () => {
  process.kill(deployment.redisServer.pid, 'SIGSTOP');
  try {
    const startedMs = Date.now();
    expect((await sender.send(wecomText('lost for now', 'linxiaoyu'))).status).toBe(503);
    expect(Date.now() - startedMs).toBeLessThan(2_500);
    const ready = await got(`${deployment.botUrl}/readyz`, {
      retry: { limit: 0 },
      throwHttpErrors: false,
      timeout: { request: 5_000 },
    });
    expect(ready.statusCode).toBe(503);
    expect((await got(`${deployment.botUrl}/healthz`)).statusCode).toBe(200);
  } finally {
    process.kill(deployment.redisServer.pid, 'SIGCONT');
  }
  const message = wecomText('count to 2', 'linxiaoyu');
  await untilTrue(async () => (await sender.send(message)).status === 200, 5_000);
  await untilTrue(
    async () =>
      (await got(`${deployment.botUrl}/readyz`, { retry: { limit: 0 }, throwHttpErrors: false })).statusCode === 200,
  );
});

test('no message text, token or key is in the log of all of this [scrubbed-logs]', async () => {
  await sender.send(wecomText('canary-message-text', 'zhangwei'));
  await new Promise((resolve) => setTimeout(resolve, 300));
  const all = deployment.lines.join('\n');
  for (const secret of [
    'canary-message-text',
    deployment.env['WECOM_BOT_AES_KEY'],
    deployment.env['CHAT_API_KEY'],
    deployment.env['SECRET_KEY'],
  ]) {
    expect(all).not.toContain(secret);
  }
});

test('a refused delivery says why in the log: signature, age, size, and nothing of its words', async () => {
  const old = Math.floor(Date.now() / 1000) - 500;
  const told = async (message: unknown, change: Parameters<WecomSender['send']>[1]) => {
    deployment.lines.splice(0);
    await sender.send(message, change);
    // One that is too large is answered before the last of it has come.
    const found = () => deployment.lines.find((line) => line.includes('a delivery was refused'));
    await untilTrue(() => found() !== undefined);
    return found() ?? '';
  };
  const said = wecomText('words of nobody else');
  expect(await told(said, { signature: '0'.repeat(40) })).toMatch(/its signature differs: see that WECOM_BOT_TOKEN is/);
  expect(await told(said, { search: '' })).toMatch(/it carries no signature/);
  expect(await told(said, { timestampSec: old })).toMatch(
    /its time is 50\d s off our clock, more than WEBHOOK_WINDOW_SEC/,
  );
  expect(await told({}, { body: '{' })).toMatch(/it holds no encrypted text/);
  expect(await told({}, { body: Buffer.alloc(1024 * 1024 + 7, 'x') })).toMatch(/larger than 1 MiB \(1048583 bytes\)/);
  expect(await told({}, { body: gzipSync('{}'), headers: { 'content-encoding': 'gzip' } })).toMatch(/compressed/);
  expect(deployment.lines.join('\n')).not.toContain('words of nobody else');
});

test('what is signed and does not open names the key, which is the other half of a set-up', async () => {
  const otherKey = createWecomSender({
    botUrl: deployment.botUrl,
    token: deployment.env['WECOM_BOT_TOKEN'] ?? '',
    aesKey: 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG',
  });
  await otherKey.send(wecomText('hello'));
  expect(deployment.lines.join('\n')).toMatch(/it is signed and does not open: see that WECOM_BOT_AES_KEY is/);
});

test('the first delivery that is verified says so, once', async () => {
  // What the messaging app asked as soon as the bot was there.
  expect(provenAtStart).toBe(1);
  for (let count = 0; count < 3; count += 1) await sender.send(wecomText(`hello ${count}`));
  expect(countProven()).toBe(0);
});
