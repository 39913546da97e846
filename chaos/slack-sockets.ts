import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocketServer, type WebSocket } from 'ws';
import type { SeededRandom } from '../test/support/seeded-random.ts';

/** Slack's side of its sockets: every receiver has one, and each delivery uses any of them. */
export interface SlackSockets {
  /** Response of `apps.connections.open`. */
  readonly url: string;
  /** Number of sockets opened so far. */
  readonly opened: number;
  /** Sends an event over any open socket. @returns the socket used, and whether it was acknowledged there in time */
  deliver(payload: object, withinMs: number): Promise<{ socket: string; isTaken: boolean }>;
  close(): Promise<void>;
}

/** How long Slack waits for a socket if none is open. */
const NONE_STANDS_MS = 1_000;

export async function startSlackSockets(random: SeededRandom): Promise<SlackSockets> {
  const http = createServer();
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const server = new WebSocketServer({ server: http });
  const standing = new Map<WebSocket, string>();
  const awaited = new Map<string, () => void>();
  let opened = 0;
  let sent = 0;
  server.on('connection', (socket) => {
    opened += 1;
    standing.set(socket, `socket ${opened}`);
    socket.on('error', () => undefined);
    socket.on('close', () => standing.delete(socket));
    socket.on('message', (data: Buffer) => {
      const { envelope_id: id = '' } = JSON.parse(data.toString()) as { envelope_id?: string };
      awaited.get(id)?.();
    });
    socket.send(JSON.stringify({ type: 'hello', num_connections: standing.size, connection_info: { app_id: 'A1' } }));
  });
  const pick = async () => {
    const giveUpAtMs = Date.now() + NONE_STANDS_MS;
    for (;;) {
      const [drawn] = random.shuffle([...standing]);
      if (drawn || Date.now() > giveUpAtMs) return drawn;
      await pause(20);
    }
  };
  return {
    url: `ws://127.0.0.1:${(http.address() as AddressInfo).port}/link`,
    get opened() {
      return opened;
    },
    async deliver(payload, withinMs) {
      const drawn = await pick();
      if (!drawn) return { socket: 'none', isTaken: false };
      const [socket, name] = drawn;
      sent += 1;
      const id = `envelope-${sent}`;
      const isTaken = await new Promise<boolean>((resolve) => {
        const limit = setTimeout(() => resolve(false), withinMs);
        awaited.set(id, () => {
          clearTimeout(limit);
          resolve(true);
        });
        socket.send(JSON.stringify({ envelope_id: id, type: 'events_api', accepts_response_payload: false, payload }));
      });
      awaited.delete(id);
      return { socket: name, isTaken };
    },
    async close() {
      for (const socket of standing.keys()) socket.terminate();
      server.close();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
