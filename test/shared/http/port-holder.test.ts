import { afterEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomToken } from '../../../src/shared/crypto/ids.ts';
import { holderOfSocket } from '../../../src/shared/http/port-holder.ts';

let closeAll: (() => void) | undefined;
afterEach(() => closeAll?.());

test('the process that listens on a socket is found regardless of connections to it', async () => {
  const path = join(tmpdir(), `parley-${randomToken(8)}.sock`);
  const server = createServer().listen(path);
  const sockets: Socket[] = [];
  closeAll = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  await once(server, 'listening');
  for (let count = 0; count < 20; count++) {
    // It waits and is not accepted yet: the system's table lists it under the same path without a process.
    sockets.push(connect(path));
    expect(holderOfSocket(path)).toContain(`(process ${process.pid})`);
  }
});
