import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { got } from 'got';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { VERSION } from '../../src/shared/version.ts';
import { makePdf, onePage } from '../bot/knowledge/documents/make-pdf.ts';
import { startParleyProcess } from '../support/parley-process.ts';
import { untilTrue } from '../support/until-true.ts';

/** Copies two hundred packages and starts two Parleys. */
jest.setTimeout(240_000);
const execute = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'parley-package-test-'));
/** Empty but for `node_modules`, as npm leaves a folder. */
const home = join(folder, 'home');
const installed = join(home, 'node_modules/parley');
let packed: string[] = [];

beforeAll(async () => {
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const { stdout } = await execute('npm', pack, { maxBuffer: 1e8 });
  const [{ filename, files }] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
  packed = files.map(({ path }) => path);
  mkdirSync(installed, { recursive: true });
  await execute('tar', ['-xzf', join(folder, filename), '-C', installed, '--strip-components=1']);
  // As npm would install them, but from this folder: the test needs no registry.
  for (const path of packagesToRun()) cpSync(path, join(home, path), { recursive: true });
  mkdirSync(join(home, 'node_modules/.bin'));
  const { bin } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as { bin: { parley: string } };
  chmodSync(join(installed, bin.parley), 0o755);
  symlinkSync(join('../parley', bin.parley), join(home, 'node_modules/.bin/parley'));
}, 240_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The packages of the lock file without those for development, as far as they are installed here. */
function packagesToRun(): string[] {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, { dev?: boolean; devOptional?: boolean }>;
  };
  const needed = Object.entries(packages).filter(([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional);
  const outermost = needed.filter(([path]) => !dirname(path).includes('/node_modules/'));
  return outermost.map(([path]) => path).filter((path) => existsSync(path));
}

const parley = (...args: string[]) => ['npx', '--no-install', 'parley', ...args];
const run = async (args: string[], env: Record<string, string> = {}) => {
  const started = await startParleyProcess({ command: parley(...args), cwd: home, env: { ...QUIET, ...env } });
  return { code: await started.ended, output: started.output() };
};
const QUIET = { LOG_LEVEL: 'warn', npm_config_update_notifier: 'false' };

test('the package contains only files of the repository and the build', async () => {
  const { stdout } = await execute('git', ['ls-files', '-z'], { maxBuffer: 1e8 });
  const tracked = new Set(stdout.split('\0'));
  expect(packed.filter((path) => !tracked.has(path) && !path.startsWith('dist/'))).toEqual([]);
  expect(packed.filter((path) => /^(?:src|test|scripts)\//.test(path))).toEqual([]);
});

test('npx parley prints the version and the help', async () => {
  expect(await run(['--version'])).toEqual({ code: 0, output: `${VERSION}\n` });
  expect(await run(['--help'])).toMatchObject({ code: 0, output: expect.stringContaining('hash-password') });
});

test('npx parley check passes in an empty folder', async () => {
  const env = Object.fromEntries(await ports());
  expect(await run(['check'], env)).toMatchObject({ code: 0, output: expect.stringContaining(', 0 to fix') });
});

test('npx parley starts the demo in an empty folder, and stores its data there', async () => {
  const env = { ...QUIET, ...Object.fromEntries(await ports()) };
  // npx alone takes seconds on a busy machine.
  const demo = await startParleyProcess({ command: parley('start', '--no-open'), cwd: home, env, ownGroup: true });
  try {
    await untilTrue(() => /Parley (?:is running|has started)/.test(demo.output()), 120_000);
    const [address = ''] = /http:\/\/127\.0\.0\.1:\d+\/\?token=\S+/.exec(demo.output()) ?? [];
    const entered = await got(address, { followRedirect: false });
    const page = await got(new URL('/', address), { headers: { cookie: entered.headers['set-cookie']?.[0] } });
    expect(page.body).toContain('main.js');
    const erased = await run(['admin', 'erase', '20210001'], env);
    expect(erased).toMatchObject({ code: 1, output: expect.stringContaining('Nothing is stored about this account') });
  } finally {
    demo.killGroup('SIGTERM');
  }
  await demo.ended;
  expect(readdirSync(home).sort()).toEqual(['data', 'node_modules']);
  expect(existsSync(join(installed, 'data'))).toBe(false);
});

test('npx parley answers from its own pages and the documents of its folder', async () => {
  writeFileSync(
    join(home, 'questions.yaml'),
    '- ask: From the package, how do I connect a real WeCom bot?\n  must: setup\n- ask: What does a parking permit cost?\n  must: 45 yuan\n',
  );
  // The confined reader of PDFs must find its packages beside the package.
  mkdirSync(join(home, 'notices'));
  writeFileSync(join(home, 'notices/parking.pdf'), makePdf(onePage('A parking permit costs 45 yuan a month.')));
  const knowledge = join(home, 'knowledge.json');
  writeFileSync(knowledge, JSON.stringify({ sources: [{ name: 'Notices', folder: 'notices', readers: 'public' }] }));
  const run = await startParleyProcess({
    command: parley('eval', 'questions.yaml'),
    ...{ cwd: home, env: { ...QUIET, KNOWLEDGE_FILE: knowledge } },
  });
  expect([await run.ended, run.output()]).toEqual([0, expect.stringContaining('2 of 2')]);
});

test('the image decoder finds its packages beside the package', async () => {
  const picture =
    'iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAKklEQVR42mO4oKBAU8QwasGoBaMWjFowasGoBaMWjFowasGoBaMWDBULAE7YQD2B7wk2AAAAAElFTkSuQmCC';
  const program = `
    import { fork } from 'node:child_process';
    const child = fork('node_modules/parley/dist/bot/turn/conversation/images/decoder.mjs', {
      serialization: 'advanced',
      stdio: ['pipe', 'inherit', 'inherit', 'ipc'],
      // Not the options of this program.
      execArgv: [],
    });
    const bytes = Buffer.from('${picture}', 'base64');
    const limits = { maxPixels: 1e6, maxSide: 16, maxBytes: 1e6, jpegSteps: [] };
    child.on('message', (answer) => {
      if (answer === 'begun') return;
      console.log(answer.result.mediaType);
      child.kill();
      process.exit();
    });
    child.send({ mediaType: 'image/png', ...limits, sizeBytes: bytes.length });
    child.stdin.write(bytes);`;
  const { stdout } = await execute('node', ['--input-type=module', '-e', program], { cwd: home });
  expect(stdout).toBe('image/png\n');
});

async function ports(): Promise<[string, string][]> {
  const names = ['PORT', 'SERVICE_PORT', 'MESSENGER_PORT'];
  return Promise.all(names.map(async (name) => [name, String(await freePort())] as [string, string]));
}
