import { isIPv6, Socket } from 'node:net';
import { Client } from 'undici';
import { asError, CodedError } from '../coded-error.ts';

/** The proxy did not open a tunnel. Contains neither the proxy's address nor its password. */
class ProxyError extends CodedError<'proxy_refused' | 'proxy_unreachable'> {}

interface Place {
  hostname: string;
  port: number;
  /** Milliseconds. */
  timeoutMs: number;
}

/**
 * Opens a tunnel to one target through a proxy (HTTP CONNECT). The proxy cannot read TLS traffic in it. @throws ProxyError
 */
export async function openTunnel(proxy: URL, { hostname, port, timeoutMs }: Place): Promise<Socket> {
  const client = new Client(proxy.origin, {
    connect: { timeout: timeoutMs },
    headersTimeout: timeoutMs,
  });
  const host = `${isIPv6(hostname) ? `[${hostname}]` : hostname}:${port}`;
  const call = client.connect({ path: host, headers: { host, ...credentialsOf(proxy) } });
  const { statusCode, socket } = await call.catch(async (thrown: unknown) => {
    await client.destroy();
    const error = asError(thrown);
    const code = 'code' in error ? String(error.code) : error.message;
    throw new ProxyError('proxy_unreachable', `The proxy cannot be reached (${code})`);
  });
  // The tunnel's socket no longer belongs to the client.
  await client.destroy();
  if (statusCode === 200 && socket instanceof Socket) return socket;
  socket.on('error', () => undefined).destroy();
  throw new ProxyError('proxy_refused', `The proxy refused the connection with status ${statusCode}`);
}

function credentialsOf({ username, password }: URL): Record<string, string> {
  if (username === '') return {};
  const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(user).toString('base64')}` };
}
