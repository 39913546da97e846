import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as nextTick, setTimeout as pause } from 'node:timers/promises';

/** From the process to what it needs (requests), or the other way round (answers). */
export type LinkWay = 'there' | 'back';

/** Which of a link's bytes suffer. */
interface Suffering {
  /** One way only: the other flows on. Both unless told. */
  way?: LinkWay;
  /** What a caller sent before it gave up (closed its connection, or died) is delivered all the same, and executed. */
  late?: true;
}

/** What a link suffers: toxiproxy's vocabulary, as far as one needs it. */
export type LinkFault =
  /** Each piece comes so much later. */
  | ({ kind: 'delay'; delayMs: number } & Suffering)
  /** One byte at a time. */
  | { kind: 'slice' }
  /** Every connection breaks after so many further bytes, in either direction. */
  | { kind: 'cut'; afterBytes: number }
  /** Nothing passes and nothing is refused. Afterwards it flows on, or the connections turn out to be dead. */
  | ({ kind: 'hold'; heals: boolean } & Suffering)
  /** Connections are reset, new ones too. */
  | { kind: 'reset' };

/** One link between a process and something that it needs. */
export interface TcpProxy {
  readonly port: number;
  breakWith(fault: LinkFault): void;
  /** Ends the fault. */
  mend(): void;
  close(): Promise<void>;
}

/** Pieces of one connection that are delivered although their caller gives up meanwhile. */
interface Owed {
  pieces: number;
}

/** Beyond this a sliced piece goes as a whole: what breaks by slicing breaks in the first bytes. */
const MOST_SLICES = 2_000;
/** So long a far side may still answer a caller that has gone; then its connection ends too. */
const LINGERS_MS = 30_000;

/**
 * Starts a proxy on a free port of the loopback.
 * @param target port of the loopback that it leads to; asked at each new connection when it is a function
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
    for (let index = 0; index < Math.min(chunk.length, MOST_SLICES); index += 1) {
      to.write(chunk.subarray(index, index + 1));
      await nextTick();
    }
    if (chunk.length > MOST_SLICES) to.write(chunk.subarray(MOST_SLICES));
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
        // A long way is not a narrow one: what comes behind sets out at once.
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
