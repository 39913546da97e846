import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { SEES_CHILDREN } from '../support/child-processes.ts';
import { untilTrue } from '../support/deployment.ts';
import { startParleyProcess, type ParleyProcess } from '../support/parley-process.ts';

jest.setTimeout(60_000);
const testWhereSeen = SEES_CHILDREN ? test : test.skip;
const folder = mkdtempSync(join(tmpdir(), 'parley-debugger-'));
let parley: ParleyProcess;
let url: string;

beforeAll(async () => {
  const [PORT = '', SERVICE_PORT = '', MESSENGER_PORT = ''] = [
    await freePort(),
    await freePort(),
    await freePort(),
  ].map(String);
  url = `http://127.0.0.1:${PORT}`;
  parley = await startParleyProcess({
    env: { PORT, SERVICE_PORT, MESSENGER_PORT, DATA_DIR: folder, SIGN_IN: 'off', ENV_FILE: '/dev/null' },
    until: /Parley (is running|has started)/,
    ownGroup: true,
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A process and all Node processes below it, by process id. */
function nodesUnder(id: number): number[] {
  const parentOf = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry)))
    try {
      const [, parent = ''] = /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${name}/status`, 'latin1')) ?? [];
      if (readFileSync(`/proc/${name}/cmdline`, 'latin1').includes('node')) parentOf.set(Number(name), Number(parent));
    } catch {
      // The process has ended meanwhile.
    }
  const under = [id];
  for (const one of under) for (const [child, parent] of parentOf) if (parent === one) under.push(child);
  return under;
}

/** Node's output on receipt of the signal, also if another process holds the debugger port. */
const ARRIVED = /Debugger listening|Starting inspector/;

/** Control: waits until an unprotected Node process reacts, so that the others have had time to react as well. */
async function openedElsewhere(): Promise<void> {
  const other = spawn('node', ['-e', 'console.error("up"); setInterval(() => {}, 1000)']);
  let output = '';
  other.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await untilTrue(() => output.includes('up'), 20_000);
  other.kill('SIGUSR1');
  await untilTrue(() => ARRIVED.test(output), 20_000);
  other.kill('SIGKILL');
}

testWhereSeen(
  'SIGUSR1, which a compromised document reader could send, opens no debugger in any process [confined-readers]',
  async () => {
    await untilTrue(async () => (await fetch(`${url}/readyz`)).ok, 20_000);
    // The bot, its worker and the worker's index of documents.
    await untilTrue(() => nodesUnder(parley.pid).length >= 3, 20_000);
    for (const id of nodesUnder(parley.pid)) process.kill(id, 'SIGUSR1');
    await openedElsewhere();
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    parley.kill('SIGTERM');
    expect(await parley.ended).toBe(0);
    expect(parley.output()).not.toMatch(ARRIVED);
  },
);
