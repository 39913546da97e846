import { afterAll, afterEach, describe, expect, jest, test } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { freePort } from '../../../../src/bot/app/local/embedded-redis.ts';
import { browserCommand } from '../../../../src/cli/start/open-browser.ts';
import { openPrintedPage } from '../../../support/printed-page.ts';
import { untilTrue } from '../../../support/deployment.ts';

jest.setTimeout(60_000);
const folder = mkdtempSync(join(tmpdir(), 'parley-opens-'));
const opened = join(folder, 'opened');
const running: ChildProcess[] = [];
afterEach(async () => {
  for (const child of running.splice(0)) {
    if (child.exitCode === null) child.stdin?.write('\u0003');
    await Promise.race([once(child, 'exit'), new Promise((resolve) => setTimeout(resolve, 10_000))]);
    child.kill('SIGKILL');
  }
  rmSync(opened, { force: true });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The `script` program of util-linux runs a program in its own terminal. */
const hasTerminal = process.platform === 'linux' && canRun('/usr/bin/script');

function canRun(path: string): boolean {
  try {
    accessSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Installs an `xdg-open` that records its arguments and fails. */
function fakeOpener(): void {
  const path = join(folder, 'xdg-open');
  writeFileSync(path, `#!/bin/sh\necho "$@" > '${opened}.new'\nmv '${opened}.new' '${opened}'\nexit 3\n`);
  chmodSync(path, 0o755);
}

interface InTerminal {
  child: ChildProcess;
  output(): string;
  messenger: string;
}

async function startInTerminal(args = ''): Promise<InTerminal> {
  fakeOpener();
  const [PORT, SERVICE_PORT, MESSENGER_PORT] = [await freePort(), await freePort(), await freePort()].map(String);
  const child = spawn('script', ['-qec', `exec node dist/main.js ${args}`, '/dev/null'], {
    env: {
      ...{ PATH: [folder, process.env['PATH'] ?? ''].join(delimiter), HOME: folder, TERM: 'xterm' },
      ...{ PORT, SERVICE_PORT, MESSENGER_PORT, DATA_DIR: join(folder, 'data'), ENV_FILE: '/dev/null', DISPLAY: ':99' },
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  running.push(child);
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => void (output += chunk.toString()));
  await untilTrue(() => output.includes('Press Ctrl+C to stop'), 30_000);
  return { child, output: () => output, messenger: `http://127.0.0.1:${MESSENGER_PORT}` };
}

(hasTerminal ? describe : describe.skip)('npm start at a terminal', () => {
  test('opens the page in the browser, prints its address in bold, and tolerates a failing opener', async () => {
    const { child, output, messenger } = await startInTerminal();
    await untilTrue(() => existsSync(opened));
    const { address, headers } = await openPrintedPage(output());
    expect(address).toMatch(messenger);
    expect(output()).toContain(`\u001B[1m${address}\u001B[22m`);
    // Other users can read program arguments, so the address passed to the opener works only once.
    const given = readFileSync(opened, 'utf8').trim();
    expect(given).toMatch(messenger);
    const setsCookie = async () => (await fetch(given, { redirect: 'manual' })).headers.get('set-cookie');
    expect(await setsCookie()).toContain(headers.cookie);
    expect(await setsCookie()).toBeNull();
    expect(output()).toContain('Your browser opens it automatically.');
    child.stdin?.write('\u0003');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  test('does not open a browser with --no-open', async () => {
    const { child, output } = await startInTerminal('--no-open');
    expect(output()).not.toContain('opens it automatically');
    child.stdin?.write('\u0003');
    await once(child, 'exit');
    expect(existsSync(opened)).toBe(false);
  });
});

test('opens a browser only in a terminal with a display', () => {
  const desk = { platform: 'linux' as NodeJS.Platform, env: { DISPLAY: ':0' }, isTerminal: true };
  expect(browserCommand(desk)).toEqual(['xdg-open']);
  expect(browserCommand({ ...desk, env: { WAYLAND_DISPLAY: 'wayland-0' } })).toEqual(['xdg-open']);
  expect(browserCommand({ ...desk, platform: 'darwin', env: {} })).toEqual(['open']);
  expect(browserCommand({ ...desk, env: { WSL_DISTRO_NAME: 'Debian' } })).toEqual(['explorer.exe']);
  expect(browserCommand({ ...desk, env: {} })).toBeUndefined();
  expect(browserCommand({ ...desk, isTerminal: false })).toBeUndefined();
  expect(browserCommand({ ...desk, env: { DISPLAY: ':0', CI: 'true' } })).toBeUndefined();
  expect(browserCommand({ ...desk, platform: 'freebsd' })).toBeUndefined();
});
