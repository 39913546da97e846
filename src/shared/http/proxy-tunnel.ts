import { definedOnly } from '../defined-only.ts';
import { request as overHttp, type ClientRequest } from 'node:http';
import { request as overHttps } from 'node:https';
import { isIPv6, type Socket } from 'node:net';
import { CodedError } from '../coded-error.ts';
import { bare, portOf } from './proxy-config.ts';

/** A proxy that opened no way; neither its address nor its password goes on. */
class ProxyError extends CodedError<'proxy_refused' | 'proxy_unreachable'> {}

interface Place {
  hostname: string;
  port: number;
  /** Milliseconds. */
  timeoutMs: number;
}

/**
 * Asks a proxy for a connection to one place (HTTP CONNECT). What is said over it later is nothing that the proxy could read, where
 * it is TLS. @throws ProxyError
 */
export async function openTunnel(proxy: URL, { hostname, port, timeoutMs }: Place): Promise<Socket> {
  const host = `${isIPv6(hostname) ? `[${hostname}]` : hostname}:${port}`;
  return new Promise((resolve, reject) => {
    const call = askFor(proxy, host, timeoutMs);
    call.once('connect', ({ statusCode = 0 }, socket: Socket, head) => {
      if (statusCode === 200 && head.length === 0) {
        socket.setTimeout(0);
        resolve(socket);
        return;
      }
      socket.destroy();
      reject(new ProxyError('proxy_refused', `The proxy answered ${statusCode} when asked for a connection`));
    });
    call.once('response', ({ statusCode = 0 }) => {
      call.destroy();
      reject(new ProxyError('proxy_refused', `The proxy answered ${statusCode} when asked for a connection`));
    });
    call.once('timeout', () => call.destroy(new Error('timeout')));
    call.once('error', (error: Error) => {
      const code = 'code' in error ? String(error.code) : error.message;
      reject(new ProxyError('proxy_unreachable', `The proxy cannot be reached (${code})`));
    });
    call.end();
  });
}

function askFor(proxy: URL, host: string, timeoutMs: number): ClientRequest {
  const { username, password, protocol } = proxy;
  const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const key = username === '' ? undefined : `Basic ${Buffer.from(user).toString('base64')}`;
  return (protocol === 'https:' ? overHttps : overHttp)({
    host: bare(proxy.hostname),
    port: portOf(proxy),
    method: 'CONNECT',
    path: host,
    headers: definedOnly({ host, 'proxy-authorization': key }),
    timeout: timeoutMs,
    agent: false,
  });
}
