import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MIB_BYTES } from '../../src/shared/clock.ts';
import { startDeployment, untilTrue, type Deployment } from '../support/deployment.ts';
import { createWecomSender, wecomText, type WecomSender } from '../support/wecom-sender.ts';
import { headOf, open, type RawConnection } from './raw-client.ts';

let deployment: Deployment;
let sender: WecomSender;
const opened: RawConnection[] = [];

beforeAll(async () => {
  deployment = await startDeployment({ env: { SIGN_IN: 'off', ...SLACK } });
  const { WECOM_BOT_TOKEN: token = '', WECOM_BOT_AES_KEY: aesKey = '' } = deployment.env;
  sender = createWecomSender({ botUrl: deployment.botUrl, token, aesKey });
}, 60_000);
afterAll(async () => {
  for (const { socket } of opened) socket.destroy();
  await deployment.stop();
});

const SLACK = { SLACK_SIGNING_SECRET: 'a-signing-secret-0123456789', SLACK_BOT_TOKEN: 'xoxb-attack-0123456789' };
const nowSec = () => Math.floor(Date.now() / 1_000);

async function begin(path: string, headers: Record<string, string>, body: Buffer): Promise<RawConnection> {
  const connection = await open(deployment.botUrl, headOf(path, MIB_BYTES, headers));
  connection.socket.write(body);
  opened.push(connection);
  return connection;
}

/** Path of a delivery that passes every check before the body, sent without any secret. */
const plausible = () => `/webhooks/wecom?msg_signature=${'a'.repeat(40)}&timestamp=${nowSec()}&nonce=77`;

test('a delivery that cannot be validly signed is rejected before its body arrives', async () => {
  const signature = 'a'.repeat(40);
  const [old, ahead] = [nowSec() - 400, nowSec() + 400];
  const slack = (time: number | string, sign: string) => ({
    'x-slack-request-timestamp': String(time),
    'x-slack-signature': sign,
  });
  const hopeless: [string, Record<string, string>][] = [
    ['/webhooks/wecom', {}],
    [`/webhooks/wecom?timestamp=${nowSec()}&nonce=1`, {}],
    [`/webhooks/wecom?msg_signature=short&timestamp=${nowSec()}&nonce=1`, {}],
    [`/webhooks/wecom?msg_signature=${signature}&timestamp=${old}&nonce=1`, {}],
    [`/webhooks/wecom?msg_signature=${signature}&timestamp=${ahead}&nonce=1`, {}],
    [`/webhooks/wecom?msg_signature=${signature}&timestamp=${nowSec()}`, {}],
    ['/webhooks/slack', {}],
    ['/webhooks/slack', slack(nowSec(), 'v0=short')],
    ['/webhooks/slack', slack(old, `v0=${'a'.repeat(64)}`)],
    ['/webhooks/slack', slack('', `v0=${'a'.repeat(64)}`)],
  ];
  for (const [path, headers] of hopeless) {
    const { said } = await begin(path, headers, Buffer.alloc(100));
    await untilTrue(() => said() !== '', 5_000);
    expect([path, said().slice(0, 12)]).toEqual([path, 'HTTP/1.1 401']);
  }
});

test('unfinished bodies are evicted oldest first, and a signed delivery is still accepted', async () => {
  const many: RawConnection[] = [];
  const almost = Buffer.alloc(MIB_BYTES - 1, 'x');
  for (let count = 0; count < 40; count += 1) many.push(await begin(plausible(), {}, almost));
  // Fewer than 32 bodies of 1 MiB fit, including the overhead of each.
  await untilTrue(() => many.filter(({ said }) => said().includes(' 503 ')).length >= 9);
  expect((await sender.send(wecomText('still here'))).status).toBe(200);
  const ended = many.map(({ said }) => said().includes(' 503 '));
  expect(ended.indexOf(false)).toBe(ended.filter(Boolean).length);
  await Promise.all(many.slice(0, 9).map(({ closed }) => closed));
});

test('a body in many tiny chunks is charged for its memory, not for its bytes', async () => {
  deployment.lines.splice(0);
  const crumbs = await open(
    deployment.botUrl,
    `POST ${plausible()} HTTP/1.1\r\nhost: bot\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
  );
  opened.push(crumbs);
  const thousand = '1\r\nx\r\n'.repeat(1_000);
  for (let count = 0; count < 200 && !crumbs.socket.destroyed; count += 1) {
    crumbs.socket.write(thousand);
    await new Promise((resolve) => setImmediate(resolve));
  }
  // Closing a connection with unread data can hide the 503 from the sender.
  await untilTrue(() => deployment.lines.some((line) => line.includes('was dropped to make room')));
  await crumbs.closed;
  expect((await sender.send(wecomText('and still'))).status).toBe(200);
});
