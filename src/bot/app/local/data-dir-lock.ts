import { rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashParts } from '../../../shared/crypto/ids.ts';
import { holderOfSocket } from '../../../shared/http/port-holder.ts';
import { LocalError } from './local-error.ts';

/** Locks a data directory for this process until it ends or releases the lock. */
export interface DataDirLock {
  release(): Promise<void>;
}

/**
 * Ensures that only one Parley uses a data directory. The lock is a listening socket, because it disappears with its
 * process, however that ends; the id in a pid file may be reused by another process.
 * @param dataDir its real path
 * @throws LocalError `data_dir_in_use`
 */
export async function lockDataDir(dataDir: string): Promise<DataDirLock> {
  // In the temporary directory, because a socket path is limited to about 100 characters.
  const path = join(tmpdir(), `parley-${hashParts(dataDir).slice(0, 20)}.sock`);
  const server = (await listenOn(path)) ?? (await takeOver(path));
  if (!server) {
    const sentence = `Another Parley is using ${dataDir}: stop ${holderOfSocket(path) ?? 'it'}, or set DATA_DIR to another folder`;
    throw new LocalError('data_dir_in_use', sentence);
  }
  server.unref();
  return { release: () => new Promise((resolve) => server.close(() => resolve())) };
}

async function takeOver(path: string): Promise<Server | undefined> {
  if (await isAnswered(path)) return undefined;
  rmSync(path, { force: true });
  return listenOn(path);
}

/** Undefined if the path is taken. */
function listenOn(path: string): Promise<Server | undefined> {
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else
        reject(
          new LocalError('data_dir_unusable', 'No socket can be created in the temporary folder', { cause: error }),
        );
    });
    server.listen(path, () => resolve(server));
  });
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
