import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** The oldest first. */
type Sockets = Set<Socket>;

/** Of the heaviest address this share is closed at once, so that a flood does not look for it at each of its connections. */
const CLOSED_SHARE = 1 / 32;

/**
 * Keeps the number of connections on which nothing is asked within a limit: new ones and those kept for a next request. Where it is
 * passed, the oldest of the address that holds most of them are closed. A platform's next delivery then still finds a door, and
 * one address cannot hold them all.
 */
export function boundIdleConnections(server: Server, most: number): void {
  const byAddress = new Map<string, Sockets>();
  const addressOf = new WeakMap<Socket, string>();
  let count = 0;

  const remove = (socket: Socket) => {
    const address = addressOf.get(socket) ?? '';
    const sockets = byAddress.get(address);
    if (!sockets?.delete(socket)) return;
    count -= 1;
    if (sockets.size === 0) byAddress.delete(address);
  };
  const add = (socket: Socket) => {
    const address = addressOf.get(socket) ?? '';
    const sockets = byAddress.get(address) ?? new Set();
    if (sockets.has(socket)) return;
    byAddress.set(address, sockets.add(socket));
    count += 1;
    if (count > most) closeOldest();
  };
  const closeOldest = () => {
    let heaviest: Sockets = new Set();
    for (const sockets of byAddress.values()) if (sockets.size > heaviest.size) heaviest = sockets;
    let left = Math.ceil(heaviest.size * CLOSED_SHARE);
    for (const socket of heaviest) {
      if (left-- === 0) return;
      remove(socket);
      socket.destroy();
    }
  };

  server.on('connection', (socket: Socket) => {
    // Known no more once it has ended.
    addressOf.set(socket, socket.remoteAddress ?? '');
    add(socket);
    socket.once('close', () => remove(socket));
  });
  server.on('request', ({ socket }, response) => {
    remove(socket);
    response.once('close', () => {
      if (!socket.destroyed) add(socket);
    });
  });
}
