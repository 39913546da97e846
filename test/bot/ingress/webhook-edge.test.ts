import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createHash } from 'node:crypto';
import { got } from 'got';
import { gzipSync } from 'node:zlib';
import { startDeployment, untilTrue, type Deployment } from '../../support/deployment.ts';
import { createWecomSender, wecomText, type WecomSender } from '../../support/wecom-sender.ts';
import { tries } from '../../support/tries.ts';

let deployment: Deployment;
let sender: WecomSender;
let provenAtStart: number;

beforeAll(async () => {
  deployment = await startDeployment({
    env: { SIGN_IN: 'off', SIGN_IN_HELP_URL: 'https://help.example.org/parley?a=1&b=2' },
  });
  provenAtStart = countProven();
  sender = createWecomSender({
    botUrl: deployment.botUrl,
    token: deployment.env['WECOM_BOT_TOKEN'] ?? '',
    aesKey: deployment.env['WECOM_BOT_AES_KEY'] ?? '',
  });
}, 60_000);
afterAll(() => deployment.stop());
beforeEach(async () => {
  // Waits until the messages of earlier tests are answered.
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

test('a wrong, missing, repeated or expired signature is answered with 401 and reaches no model [quiet-ignorance]', async () => {
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

test('a browser at the webhook address gets a help page in its language, and a forged delivery an empty body', async () => {
  const address = `${deployment.botUrl}/webhooks/wecom`;
  const open = (language: string, search = '') =>
    got(`${address}${search}`, { throwHttpErrors: false, headers: { 'accept-language': language } });
  const [english, chinese] = [await open('en-GB'), await open('zh-CN,zh;q=0.9')];
  expect(english.statusCode).toBe(200);
  expect(english.body).toContain('<h1>Ask the bot in WeCom</h1>');
  expect(english.body).toContain('<code>/help</code> lists everything that you can send');
  expect(english.body).toContain('<a href="https://help.example.org/parley?a=1&amp;b=2">More help</a>');
  expect(chinese.body).toContain('<html lang="zh-CN">');
  expect(chinese.body).toContain('在企业微信中使用机器人');
  expect(chinese.body).toContain('<code>新对话</code>');
  const style = createHash('sha256').update(/<style>([^]*?)<\/style>/.exec(english.body)?.[1] ?? '');
  expect(english.headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': `default-src 'none'; style-src 'sha256-${style.digest('base64')}'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'`,
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  });
  const unsigned = await open('en', '?echostr=x');
  expect([unsigned.statusCode, unsigned.body.includes('Ask the bot')]).toEqual([401, true]);
  expect((await got.post(address, { json: {}, throwHttpErrors: false })).body).toBe('');
});

test('a body over 1 MiB is answered with 413 and a compressed one with 415, without blocking others [bounded-requests]', async () => {
  expect((await sender.send({}, { body: Buffer.alloc(1024 * 1024 + 1, 'x') })).status).toBe(413);
  for (const sizeBytes of [8, 64].map((mib) => mib * 1024 * 1024)) {
    expect((await sender.send({}, { body: Buffer.alloc(sizeBytes, 'x') })).status).toBe(413);
  }
  const packed = gzipSync('{"encrypt":"x"}');
  expect((await sender.send({}, { body: packed, headers: { 'content-encoding': 'gzip' } })).status).toBe(415);
  expect((await sender.send(wecomText('still here'))).status).toBe(200);
});

test('a webhook accepts only GET and POST, and only at its exact path [raw-bytes-only]', async () => {
  const ask = (method: 'PUT' | 'DELETE' | 'HEAD' | 'POST', path: string) =>
    got(`${deployment.botUrl}${path}`, { method, throwHttpErrors: false, retry: { limit: 0 } });
  for (const method of ['PUT', 'DELETE', 'HEAD'] as const) {
    const answer = await ask(method, '/webhooks/wecom');
    expect([answer.statusCode, answer.headers.allow]).toEqual([405, 'GET, POST']);
  }
  for (const path of ['/webhooks/', '/webhooks/nobody', '/webhooks/wecom/more', '/webhookswecom'])
    expect((await ask('POST', path)).statusCode).toBe(404);
});

test('a body without an encrypted text is answered with 400', async () => {
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

test('property: signed JSON of any shape is answered with 200 and never ends the process', async () => {
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
    { numRuns: tries(150) },
  );
  expect((await got(`${deployment.botUrl}/healthz`)).statusCode).toBe(200);
});

test('a repeated delivery gets the same stream and calls the model once [accept-once]', async () => {
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

test('a poll for an unknown stream and one for another person’s stream return the same empty response', async () => {
  const { answer } = await sender.send(wecomText('mine', 'zhangwei'));
  const unknown = await pollFor('f'.repeat(40), 'zhangwei');
  const foreign = await pollFor(replyOf(answer).id, 'linxiaoyu');
  for (const { content, finish } of [unknown, foreign])
    expect({ content, finish }).toEqual({ content: '', finish: false });
});

test('a message lost with a Redis master keeps its stream open, which shows the answer once the message is redelivered', async () => {
  const message = wecomText('count to 3', 'patient');
  const { id } = replyOf((await sender.send(message)).answer);
  await untilTrue(async () => (await pollFor(id, 'patient')).finish);
  await deployment.redis.del(await deployment.redis.keys(`{p*}:message:${id}`));
  expect(await pollFor(id, 'patient')).toMatchObject({ content: '', finish: false });
  await sender.send(message);
  await untilTrue(async () => (await pollFor(id, 'patient')).finish);
  expect((await pollFor(id, 'patient')).content.trim()).toBe('1 2 3');
});

test('a message beyond the rate limit is answered with a notice [rate-limits]', async () => {
  const results = [];
  for (let sent = 0; sent < 22; sent += 1) results.push(await sender.send(wecomText('quick', 'hasty')));
  const last = replyOf(results.at(-1)?.answer);
  expect(last.finish).toBe(true);
  expect(last.content).toMatch(/Too many messages/);
  expect(results.every(({ status }) => status === 200)).toBe(true);
});

test('a message to a full inbox is answered with its own notice, and so are its repeats and polls [back-pressure]', async () => {
  const { id } = replyOf((await sender.send(wecomText('count to 2', 'patient'))).answer);
  await untilTrue(async () => (await pollFor(id, 'patient')).finish);
  // Waiting messages without a wake: no worker looks for them during the test.
  const [record = ''] = await deployment.redis.keys(`{p*}:message:${id}`);
  const conversation = await deployment.redis.hget(record, 'conversation');
  const inbox = record.replace(`message:${id}`, `inbox:${conversation}`);
  const pending = record.replace(/message:.*/, 'pending');
  await deployment.redis.rpush(inbox, ...Array<string>(100).fill('waiting'));
  await deployment.redis.zadd(pending, Date.now(), String(conversation));
  const late = wecomText('one too many', 'patient');
  const answers = [await sender.send(late), await sender.send(late)].map(({ answer }) => replyOf(answer));
  answers.push(await pollFor(answers[0]?.id ?? '', 'patient'));
  await deployment.redis.del(inbox);
  await deployment.redis.zrem(pending, String(conversation));
  for (const { content, finish } of answers) {
    expect({ content, finish }).toEqual({
      content:
        '等待回答的消息过多，请在前面的消息得到回答后重新发送这一条。\nToo many messages are already waiting here. Please send this one again once some have been answered.',
      finish: true,
    });
  }
});

test('a delivery gets 503 within 2 s while Redis is frozen, and 200 within 5 s of its return [acknowledged-when-stored]', async () => {
  process.kill(deployment.redisServer.pid, 'SIGSTOP');
  try {
    const startedMs = Date.now();
    expect((await sender.send(wecomText('lost for now', 'linxiaoyu'))).status).toBe(503);
    // WeCom waits 5 s. The deadline is 2 s; the rest allows for a busy machine.
    expect(Date.now() - startedMs).toBeLessThan(4_900);
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

test('no log line contains message text, a token or a key [scrubbed-logs]', async () => {
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

test('the log states why a delivery was refused (signature, age or size) without quoting it', async () => {
  const old = Math.floor(Date.now() / 1000) - 500;
  const told = async (message: unknown, change: Parameters<WecomSender['send']>[1]) => {
    deployment.lines.splice(0);
    await sender.send(message, change);
    // A body that is too large is answered before it has arrived completely.
    const found = () => deployment.lines.find((line) => line.includes('a delivery was refused'));
    await untilTrue(() => found() !== undefined);
    return found() ?? '';
  };
  const said = wecomText('words of nobody else');
  expect(await told(said, { signature: '0'.repeat(40) })).toMatch(
    /its signature differs: if the platform sent it, copy WECOM_BOT_TOKEN from/,
  );
  expect(await told(said, { search: '' })).toMatch(/it has no signature/);
  expect(await told(said, { timestampSec: old })).toMatch(
    /its time is 50\d s off our clock, more than WEBHOOK_WINDOW_SEC/,
  );
  expect(await told({}, { body: '{' })).toMatch(/it contains no encrypted text/);
  expect(await told({}, { body: Buffer.alloc(1024 * 1024 + 7, 'x') })).toMatch(/larger than 1 MiB \(1048583 bytes\)/);
  expect(await told({}, { body: gzipSync('{}'), headers: { 'content-encoding': 'gzip' } })).toMatch(/compressed/);
  expect(deployment.lines.join('\n')).not.toContain('words of nobody else');
});

test('a signed delivery that cannot be decrypted is logged with WECOM_BOT_AES_KEY', async () => {
  const otherKey = createWecomSender({
    botUrl: deployment.botUrl,
    token: deployment.env['WECOM_BOT_TOKEN'] ?? '',
    aesKey: 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG',
  });
  await otherKey.send(wecomText('hello'));
  expect(deployment.lines.join('\n')).toMatch(/it is signed but cannot be decrypted: copy WECOM_BOT_AES_KEY from/);
});

test('the first verified delivery is logged once', async () => {
  // The messaging app sent its verification request as soon as the bot was up.
  expect(provenAtStart).toBe(1);
  for (let count = 0; count < 3; count += 1) await sender.send(wecomText(`hello ${count}`));
  expect(countProven()).toBe(0);
});
