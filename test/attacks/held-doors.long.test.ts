import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MIB_BYTES } from '../../src/shared/clock.ts';
import { startParleyProcess, type ParleyProcess } from '../support/parley-process.ts';
import { startDeployment, type Deployment } from '../support/deployment.ts';
import { createWecomSender, wecomText } from '../support/wecom-sender.ts';
import { headOf, open, type RawConnection } from './raw-client.ts';

const BODIES = 800;
const CONNECTIONS = 10_000;
const MAX_COST_MIB = 150;

let deployment: Deployment;
let receiver: ParleyProcess;
const opened: RawConnection[] = [];

beforeAll(async () => {
  deployment = await startDeployment({ startsBot: false });
  receiver = await startParleyProcess({
    env: { ...deployment.env, ROLES: 'receiver', LOG_LEVEL: 'info' },
    until: /running|listening/i,
  });
}, 60_000);
afterAll(async () => {
  for (const { socket } of opened) socket.destroy();
  receiver.kill('SIGTERM');
  await receiver.ended;
  await deployment.stop();
});

function rssMib(): number {
  const [, kib = '0'] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${receiver.pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kib) / 1_024);
}

const plausible = () =>
  `/webhooks/wecom?msg_signature=${'a'.repeat(40)}&timestamp=${Math.floor(Date.now() / 1_000)}&nonce=77`;

/** Opens `count` connections, 50 at a time, and checks peak memory and that signed deliveries still succeed. */
async function attack(name: string, count: number, connect: () => Promise<RawConnection>): Promise<void> {
  const { WECOM_BOT_TOKEN: token = '', WECOM_BOT_AES_KEY: aesKey = '' } = deployment.env;
  const sender = createWecomSender({ botUrl: deployment.botUrl, token, aesKey });
  for (let warm = 0; warm < 50; warm += 1) await sender.send(wecomText(`warm ${warm}`, `warm${warm}`));
  const before = rssMib();
  let greatest = before;
  const answers = new Set<number>();
  for (let done = 0; done < count; done += 50) {
    opened.push(...(await Promise.all(Array.from({ length: 50 }, connect))));
    greatest = Math.max(greatest, rssMib());
    if (done % 200 === 0) answers.add((await sender.send(wecomText('real', `person${done}`))).status);
  }
  for (let second = 0; second < 5; second += 1) {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    greatest = Math.max(greatest, rssMib());
    answers.add((await sender.send(wecomText('real', `late${second}`))).status);
  }
  const open = opened.filter(({ socket }) => !socket.destroyed).length;
  process.stdout.write(`${name}: ${count}, RSS ${before} -> at most ${greatest} MiB, still open ${open}\n`);
  expect([...answers]).toEqual([200]);
  expect(greatest - before).toBeLessThanOrEqual(MAX_COST_MIB);
}

test('800 unfinished unsigned bodies of 1 MiB cost at most 150 MiB and do not block signed deliveries', async () => {
  const almost = Buffer.alloc(MIB_BYTES - 1, 'x');
  await attack('half-sent bodies', BODIES, async () => {
    const connection = await open(deployment.botUrl, headOf(plausible(), MIB_BYTES));
    connection.socket.write(almost);
    return connection;
  });
}, 120_000);

test('10,000 idle connections cost at most 150 MiB and do not block signed deliveries', async () => {
  for (const { socket } of opened.splice(0)) socket.destroy();
  const idle = 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n';
  await attack('idle connections', CONNECTIONS, () => open(deployment.botUrl, idle));
}, 120_000);
