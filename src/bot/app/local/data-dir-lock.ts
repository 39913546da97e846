import { rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashParts } from '../../../shared/crypto/ids.ts';
import { holderOfSocket } from '../../../shared/http/port-holder.ts';
import { LocalError } from './local-error.ts';

/** Holds a data folder for this process until it ends or lets go. */
export interface DataDirLock {
  release(): Promise<void>;
}

/**
 * Makes sure that one Parley at a time uses a data folder. A listening socket is the mark, since it dies with its process,
 * however that ends; a file with a process id would be believed after the id went to somebody else.
 * @param dataDir its real path
 * @throws LocalError `data_dir_in_use`
 */
export async function lockDataDir(dataDir: string): Promise<DataDirLock> {
  // In the temporary folder since a socket's path may have about 100 characters only.
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

/** Undefined when the path is taken. */
function listenOn(path: string): Promise<Server | undefined> {
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else reject(new LocalError('data_dir_unusable', 'The temporary folder takes no socket', { cause: error }));
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
