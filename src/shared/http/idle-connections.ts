import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** The connections of one address. */
interface Holder {
  open: number;
  /** Connections without an active request, oldest first. */
  idle: Set<Socket>;
}

/**
 * Share of the heaviest address's idle connections that is closed at once, so that a flood does not trigger a search for
 * every connection.
 */
const CLOSED_SHARE = 1 / 32;

/**
 * Limits the number of idle connections, both new and kept-alive. Above the limit, the oldest connections of the address
 * that holds the most are closed. One address therefore cannot exhaust the limit and lock out a platform's next delivery.
 */
export function limitIdleConnections(server: Server, maxIdle: number): void {
  const byAddress = new Map<string, Holder>();
  const holderOf = new WeakMap<Socket, Holder>();
  let count = 0;

  const remove = (socket: Socket, { idle }: Holder) => {
    if (idle.delete(socket)) count -= 1;
  };
  const add = (socket: Socket, { idle }: Holder) => {
    idle.add(socket);
    count += 1;
    if (count > maxIdle) closeOldest();
  };
  const closeOldest = () => {
    let heaviest: Holder | undefined;
    for (const holder of byAddress.values()) if (holder.idle.size > (heaviest?.idle.size ?? 0)) heaviest = holder;
    if (!heaviest) return;
    let left = Math.ceil(heaviest.idle.size * CLOSED_SHARE);
    for (const socket of heaviest.idle) {
      if (left-- === 0) return;
      remove(socket, heaviest);
      socket.destroy();
    }
  };

  server.on('connection', (socket: Socket) => {
    // `remoteAddress` is undefined once the socket has closed.
    const address = socket.remoteAddress ?? '';
    const holder = byAddress.get(address) ?? { open: 0, idle: new Set() };
    byAddress.set(address, holder);
    holderOf.set(socket, holder);
    holder.open += 1;
    add(socket, holder);
    socket.once('close', () => {
      remove(socket, holder);
      holder.open -= 1;
      if (holder.open === 0) byAddress.delete(address);
    });
  });
  server.on('request', ({ socket }, response) => {
    const holder = holderOf.get(socket);
    if (!holder) return;
    remove(socket, holder);
    response.once('close', () => {
      if (!socket.destroyed && !holder.idle.has(socket)) add(socket, holder);
    });
  });
}
