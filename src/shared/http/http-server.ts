import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { KIB_BYTES, MINUTE_MS, SECOND_MS } from '../clock.ts';
import { limitIdleConnections } from './idle-connections.ts';

export interface ListeningServer {
  /** `http://HOST:PORT` with the actual port (port 0 selects a free one). */
  readonly url: string;
  readonly port: number;
  readonly server: Server;
  /** Stops accepting, closes idle sockets, and resolves when the last open response has ended or `graceMs` has passed. */
  close(graceMs?: number): Promise<void>;
}

const MAX_CONNECTIONS = 10_000;
/** A proxy or a platform keeps dozens of connections; each costs about 10 KB. */
const MAX_IDLE_CONNECTIONS = 2_000;
/** Maximum unanswered requests of one connection. Browsers, proxies and platforms send the next request after the answer. */
const MAX_PIPELINED = 16;
const IDLE_SWEEP_MS = 50;

/** Time in which a request must have arrived, where the largest body takes a moment only. */
const REQUEST_TIMEOUT_MS = 10 * SECOND_MS;
/** The same for servers that accept files: 32 MiB at 5 Mbit/s. */
export const FILE_REQUEST_TIMEOUT_MS = MINUTE_MS;

/**
 * Starts an HTTP server with the limits of SECURITY.md bounded-requests; Node's own defaults (300 s, checked every 30 s) are
 * too lax.
 * @param requestTimeoutMs time in which a request must have arrived completely
 */
export async function listen(
  handler: RequestListener,
  port: number,
  host: string,
  requestTimeoutMs = REQUEST_TIMEOUT_MS,
): Promise<ListeningServer> {
  const server = createServer(
    {
      headersTimeout: 5 * SECOND_MS,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: SECOND_MS,
      keepAliveTimeout: 65 * SECOND_MS,
      maxHeaderSize: 8 * KIB_BYTES,
    },
    limitPipelining(handler),
  );
  server.maxConnections = MAX_CONNECTIONS;
  limitIdleConnections(server, MAX_IDLE_CONNECTIONS);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const taken = (server.address() as AddressInfo).port;
  const shownHost = host.includes(':') ? `[${host}]` : host === '0.0.0.0' ? '127.0.0.1' : host;
  return {
    url: `http://${shownHost}:${taken}`,
    port: taken,
    server,
    close: (graceMs = 0) => closeServer(server, graceMs),
  };
}

/**
 * Node parses every request in a read at once, a thousand in 40 KiB, before it answers the first. Such a connection is
 * closed.
 */
function limitPipelining(handler: RequestListener): RequestListener {
  const unanswered = new WeakMap<Socket, number>();
  const count = (socket: Socket, change: 1 | -1): number => {
    const next = (unanswered.get(socket) ?? 0) + change;
    unanswered.set(socket, next);
    return next;
  };
  return (request, response) => {
    const { socket } = request;
    if (socket.destroyed || count(socket, 1) > MAX_PIPELINED) return void socket.destroy();
    response.once('close', () => count(socket, -1));
    handler(request, response);
  };
}

async function closeServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  // Otherwise a kept-alive connection whose last response ends after the close would keep the server open for the whole
  // grace period.
  const sweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS);
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(timer);
}
