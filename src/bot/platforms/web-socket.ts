import type { createConnection } from 'node:net';
import type { buildConnector } from 'undici';
import { WebSocket, type RawData } from 'ws';
import { MIB_BYTES, SECOND_MS } from '../../shared/clock.ts';
import { outgoingConnector } from '../../shared/http/http-agent.ts';
import { bareHostname } from '../../shared/http/proxy-config.ts';

/** Maximum frame size; no platform's webhook sends more either. */
const MAX_FRAME_BYTES = MIB_BYTES;
const FIRST_PAUSE_MS = SECOND_MS;
const MAX_PAUSE_MS = 30 * SECOND_MS;

/** Opens a connection to a platform, through the proxy configured for it. @param url `wss://…` */
export function openWebSocket(url: string, handshakeTimeoutMs: number): WebSocket {
  return new WebSocket(url, {
    handshakeTimeout: handshakeTimeoutMs,
    maxPayload: MAX_FRAME_BYTES,
    perMessageDeflate: false,
    followRedirects: false,
    createConnection: connectTo(new URL(url), handshakeTimeoutMs) as unknown as typeof createConnection,
  });
}

/** Like HTTP calls, so that proxies are supported in one place. */
function connectTo({ protocol, hostname, host, port }: URL, timeoutMs: number) {
  const target = { protocol: protocol === 'wss:' ? 'https:' : 'http:', hostname: bareHostname(hostname), host, port };
  return (_: unknown, done: buildConnector.Callback): void => outgoingConnector({ timeoutMs })(target, done);
}

/** Text of a text frame; empty for a binary frame, which no platform sends. */
export function decodeTextFrame(data: RawData, isBinary: boolean): string {
  if (isBinary) return '';
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8');
  return Buffer.isBuffer(data) ? data.toString('utf8') : Buffer.from(data).toString('utf8');
}

/** Pause before a reconnect: none at first, then exponential with jitter. Milliseconds. */
export function reconnectPauseMs(failures: number, maxMs = MAX_PAUSE_MS): number {
  if (failures === 0) return 0;
  const wholeMs = Math.min(maxMs, FIRST_PAUSE_MS * 2 ** (failures - 1));
  return wholeMs * (0.5 + Math.random() / 2);
}
