import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as nextTick, setTimeout as pause } from 'node:timers/promises';

/** From the process to its server (requests), or back (responses). */
export type LinkWay = 'there' | 'back';

/** The bytes of a link that a fault affects. */
interface Suffering {
  /** One direction only: the other is not affected. Defaults to both. */
  way?: LinkWay;
  /** Data that a caller sent before it gave up (closed its connection, or died) is still delivered, and executed. */
  late?: true;
}

/** A link fault, in a subset of toxiproxy's terms. */
export type LinkFault =
  /** Each chunk is delayed. */
  | ({ kind: 'delay'; delayMs: number } & Suffering)
  /** One byte at a time. */
  | { kind: 'slice' }
  /** Every connection breaks after this many further bytes, in either direction. */
  | { kind: 'cut'; afterBytes: number }
  /** Data neither passes nor is refused. Afterwards it flows on, or the connections are closed. */
  | ({ kind: 'hold'; heals: boolean } & Suffering)
  /** Connections are reset, including new ones. */
  | { kind: 'reset' };

/** One link between a process and a server that it needs. */
export interface TcpProxy {
  readonly port: number;
  breakWith(fault: LinkFault): void;
  /** Ends the fault. */
  mend(): void;
  close(): Promise<void>;
}

/** Chunks of one connection that must be delivered although their caller gives up meanwhile. */
interface Owed {
  pieces: number;
}

/** Above this the rest of a sliced chunk is sent at once: faults caused by slicing occur in the first bytes. */
const MAX_SLICES = 2_000;
/** Time for which a server may still answer a caller that has disconnected; then its connection ends too. */
const LINGERS_MS = 30_000;

/**
 * Starts a proxy on a free port of the loopback.
 * @param target the loopback port of the server; a function is called for each new connection
 */
export async function startTcpProxy(target: number | (() => number)): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let fault: LinkFault | undefined;
  let leftBytes = Number.POSITIVE_INFINITY;
  let endHold: () => void = () => undefined;
  let held = Promise.resolve();

  const destroyAll = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  const suffers = (way: LinkWay) =>
    (fault?.kind === 'hold' || fault?.kind === 'delay') && (fault.way ?? way) === way ? fault : undefined;
  const isLate = () => suffers('there')?.late === true;
  const deliver = async (chunk: Buffer, to: Socket, { way, cameAtMs }: { way: LinkWay; cameAtMs: number }) => {
    const suffered = suffers(way);
    if (suffered?.kind === 'hold') await held;
    if (suffered?.kind === 'delay') await pause(Math.max(0, cameAtMs + suffered.delayMs - performance.now()));
    leftBytes -= chunk.length;
    if (leftBytes < 0) return destroyAll();
    if (fault?.kind !== 'slice') return void to.write(chunk);
    for (let index = 0; index < Math.min(chunk.length, MAX_SLICES); index += 1) {
      to.write(chunk.subarray(index, index + 1));
      await nextTick();
    }
    if (chunk.length > MAX_SLICES) to.write(chunk.subarray(MAX_SLICES));
  };
  const carry = async (from: Socket, to: Socket, { way, owed }: { way: LinkWay; owed: Owed }) => {
    let delivered = Promise.resolve();
    try {
      for await (const chunk of from as AsyncIterable<Buffer>) {
        const cameAtMs = performance.now();
        const isOwed = way === 'there' && isLate();
        if (isOwed) owed.pieces += 1;
        delivered = delivered
          .then(() => deliver(chunk, to, { way, cameAtMs }))
          .finally(() => (owed.pieces -= isOwed ? 1 : 0));
        // Latency does not limit throughput: later chunks are sent at once.
        if (fault?.kind !== 'delay' && !isOwed) await delivered;
      }
      await delivered;
      to.end();
    } catch {
      if (way === 'back' || (owed.pieces === 0 && !isLate())) return void to.destroy();
      await delivered;
      to.end();
    }
  };
  const server = createServer((near) => {
    const owed: Owed = { pieces: 0 };
    const far = connect(typeof target === 'number' ? target : target(), '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        sockets.delete(socket);
        near.destroy();
        if (socket === near && (owed.pieces > 0 || isLate())) setTimeout(() => far.destroy(), LINGERS_MS).unref();
        else far.destroy();
      });
    }
    if (fault?.kind === 'reset') return void near.resetAndDestroy();
    void carry(near, far, { way: 'there', owed });
    void carry(far, near, { way: 'back', owed });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const mend = () => {
    const wasHeldForEver = fault?.kind === 'hold' && !fault.heals;
    fault = undefined;
    leftBytes = Number.POSITIVE_INFINITY;
    if (wasHeldForEver) destroyAll();
    endHold();
  };
  return {
    port: (server.address() as AddressInfo).port,
    breakWith(next) {
      mend();
      fault = next;
      if (next.kind === 'cut') leftBytes = next.afterBytes;
      if (next.kind === 'hold') held = new Promise((resolve) => (endHold = resolve));
      if (next.kind === 'reset') destroyAll();
    },
    mend,
    async close() {
      mend();
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
