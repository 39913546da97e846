import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** One address's connections. */
interface Holder {
  open: number;
  /** Those on which nothing is asked, the oldest first. */
  idle: Set<Socket>;
}

/** Of the heaviest address this share is closed at once, so that a flood does not look for it at each of its connections. */
const CLOSED_SHARE = 1 / 32;

/**
 * Keeps the number of connections on which nothing is asked within a limit: new ones and those kept for a next request. Where it is
 * passed, the oldest of the address that holds most of them are closed. A platform's next delivery then still finds a door, and
 * one address cannot hold them all.
 */
export function boundIdleConnections(server: Server, most: number): void {
  const byAddress = new Map<string, Holder>();
  const holderOf = new WeakMap<Socket, Holder>();
  let count = 0;

  const remove = (socket: Socket, { idle }: Holder) => {
    if (idle.delete(socket)) count -= 1;
  };
  const add = (socket: Socket, { idle }: Holder) => {
    idle.add(socket);
    count += 1;
    if (count > most) closeOldest();
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
    // Known no more once it has ended.
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
