import { execFile, fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const PACKAGE_FILES = ['package.json', 'package-lock.json'];
const SCRIPTS = ['chat-clients.mjs', 'sign-in-clients.mjs'];
/** Errors of npm if the registry cannot be reached. */
const UNREACHABLE = /EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT/;

/**
 * Installs the client libraries apart from the project's packages, once for each version of their lock file.
 * @returns the folder, or undefined if the registry cannot be reached
 */
export async function installClients(): Promise<string | undefined> {
  const lock = createHash('sha256')
    .update(readFileSync(join(HERE, 'package-lock.json')))
    .digest('hex');
  const folder = join('node_modules', '.cache', `parley-clients-${lock.slice(0, 12)}`);
  if (!existsSync(folder)) {
    const started = `${folder}.${process.pid}`;
    mkdirSync(started, { recursive: true });
    for (const name of PACKAGE_FILES) copyFileSync(join(HERE, name), join(started, name));
    try {
      // Their install scripts are not needed, and are not run.
      const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=1'];
      await promisify(execFile)('npm', args, { cwd: started });
      renameSync(started, folder);
    } catch (error) {
      rmSync(started, { recursive: true, force: true });
      if (UNREACHABLE.test(String((error as { stderr?: string }).stderr))) return undefined;
      throw error;
    }
  }
  for (const name of SCRIPTS) copyFileSync(join(HERE, name), join(folder, name));
  return folder;
}

/** What a client's process reports. */
interface Report {
  /** A page that the person opens in a browser. */
  open?: string;
  result?: unknown;
  error?: string;
}

/**
 * Runs one client in a process of its own.
 * @param open opens a page for the client, and returns the address to which the service sends the browser back
 */
export function runClient(
  { script, name, client }: { script: string; name: string; client: object },
  open: (address: string) => Promise<string> = () => Promise.reject(new Error('no browser')),
): Promise<unknown> {
  const env = { PATH: process.env['PATH'], CLIENT: JSON.stringify(client) };
  const child = fork(script, [name], { env, execArgv: ['--no-warnings'], silent: true });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (piece) => (printed += String(piece)));
  return new Promise((resolve, reject) => {
    const fail = (reason: unknown) => {
      child.kill();
      reject(reason instanceof Error ? reason : new Error(String(reason)));
    };
    child.on('message', ({ open: address, result, error }: Report) => {
      if (error !== undefined) fail(error);
      else if (address === undefined) resolve(result);
      else open(address).then((back) => child.send(back), fail);
    });
    child.on('error', fail);
    child.on('exit', (code) => fail(`The client ended with ${code}: ${printed}`));
  });
}
