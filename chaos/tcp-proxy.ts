import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as nextTick, setTimeout as pause } from 'node:timers/promises';

/** What a link suffers: toxiproxy's vocabulary, as far as one needs it (reliability.md section 4). */
export type LinkFault =
  /** Each piece comes so much later. */
  | { kind: 'delay'; delayMs: number }
  /** One byte at a time. */
  | { kind: 'slice' }
  /** Every connection breaks after so many further bytes, in either direction. */
  | { kind: 'cut'; afterBytes: number }
  /** Nothing passes and nothing is refused. Afterwards it flows on, or the connections turn out to be dead. */
  | { kind: 'hold'; heals: boolean }
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

/** Beyond this a sliced piece goes as a whole: what breaks by slicing breaks in the first bytes. */
const MOST_SLICES = 2_000;

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
  const deliver = async (chunk: Buffer, to: Socket, cameAtMs: number) => {
    if (fault?.kind === 'hold') await held;
    if (fault?.kind === 'delay') await pause(Math.max(0, cameAtMs + fault.delayMs - performance.now()));
    leftBytes -= chunk.length;
    if (leftBytes < 0) return destroyAll();
    if (fault?.kind !== 'slice') return void to.write(chunk);
    for (let index = 0; index < Math.min(chunk.length, MOST_SLICES); index += 1) {
      to.write(chunk.subarray(index, index + 1));
      await nextTick();
    }
    if (chunk.length > MOST_SLICES) to.write(chunk.subarray(MOST_SLICES));
  };
  const carry = async (from: Socket, to: Socket) => {
    try {
      let delivered = Promise.resolve();
      for await (const chunk of from as AsyncIterable<Buffer>) {
        const cameAtMs = performance.now();
        delivered = delivered.then(() => deliver(chunk, to, cameAtMs));
        // A long way is not a narrow one: what comes behind sets out at once.
        if (fault?.kind !== 'delay') await delivered;
      }
      await delivered;
      to.end();
    } catch {
      to.destroy();
    }
  };
  const server = createServer((near) => {
    const far = connect(typeof target === 'number' ? target : target(), '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    if (fault?.kind === 'reset') return void near.resetAndDestroy();
    void carry(near, far);
    void carry(far, near);
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
