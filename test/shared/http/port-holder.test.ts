import { afterEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomToken } from '../../../src/shared/crypto/ids.ts';
import { holderOfSocket } from '../../../src/shared/http/port-holder.ts';

let closeAll: (() => void) | undefined;
afterEach(() => closeAll?.());

test('who listens on a socket is told however many connections to it come and go', async () => {
  const path = join(tmpdir(), `parley-${randomToken(8)}.sock`);
  const server = createServer().listen(path);
  const sockets: Socket[] = [];
  closeAll = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  await once(server, 'listening');
  for (let count = 0; count < 20; count++) {
    // It waits, not taken yet: in the system's table it stands under the same path, and belongs to nobody.
    sockets.push(connect(path));
    expect(holderOfSocket(path)).toContain(`(process ${process.pid})`);
  }
});
