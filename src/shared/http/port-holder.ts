import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';

const LISTENING = '0A';
/** Flag of a listening UNIX domain socket in /proc/net/unix. */
const ACCEPTS = '00010000';
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];

/**
 * The process that listens on a local port, such as `node (process 4711)`; undefined if the system does not reveal it, for
 * example for other users' processes. Shows only the program of its command line, because the arguments may contain secrets.
 */
export function holderOfPort(port: number): string | undefined {
  if (!existsSync('/proc/net/tcp')) return askLsof([`-iTCP:${port}`, '-sTCP:LISTEN']);
  const isOurs = ([, local = '', , state]: string[]) =>
    state === LISTENING && Number.parseInt(local.split(':').at(-1) ?? '', 16) === port;
  const line = TABLES.flatMap(linesOf).find(isOurs);
  return line && ownerOf(line[9]);
}

/** The process that listens on a UNIX domain socket. */
export function holderOfSocket(path: string): string | undefined {
  if (!existsSync('/proc/net/unix')) return askLsof([path]);
  // Every connection is listed under the same path, and a pending one has no owner. The flag identifies the listener.
  const line = linesOf('/proc/net/unix').find((fields) => fields.at(-1) === path && fields[3] === ACCEPTS);
  return line && ownerOf(line[6]);
}

function linesOf(table: string): string[][] {
  const lines = read(() => readFileSync(table, 'utf8')) ?? '';
  return lines.split('\n').map((line) => line.trim().split(/\s+/));
}

/** The process that has the socket with this inode open. */
function ownerOf(inode: string | undefined): string | undefined {
  const ids = (read(() => readdirSync('/proc')) ?? []).filter((name) => /^\d+$/.test(name));
  const holds = (id: string) =>
    (read(() => readdirSync(`/proc/${id}/fd`)) ?? []).some(
      (handle) => read(() => readlinkSync(`/proc/${id}/fd/${handle}`)) === `socket:[${inode}]`,
    );
  const id = ids.find(holds);
  return id && inWords(id);
}

function inWords(id: string): string {
  const [program = ''] = (read(() => readFileSync(`/proc/${id}/cmdline`, 'utf8')) ?? '').split('\0');
  return `${basename(program) || 'a program'} (process ${id})`;
}

/** For systems without /proc. lsof prints `p4711` and `cnode`, one per line. */
function askLsof(selection: readonly string[]): string | undefined {
  const told = read(() =>
    execFileSync('lsof', ['-nP', ...selection, '-Fpc'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
  );
  const [, id, program] = /^p(\d+)\nc(.*)$/m.exec(told ?? '') ?? [];
  return id && `${program} (process ${id})`;
}

function read<Result>(look: () => Result): Result | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
