import { connect, type Socket } from 'node:net';

/** A raw TCP connection. `said` returns everything received so far. */
export interface RawConnection {
  socket: Socket;
  said(): string;
  /** Resolves when the peer closes or the connection breaks. */
  closed: Promise<void>;
}

/** Connects to a server on this machine and sends `first`. */
export async function open(url: string, first: string | Buffer = '', host = '127.0.0.1'): Promise<RawConnection> {
  const { port } = new URL(url);
  let said = '';
  const socket = connect(Number(port), host);
  socket.on('data', (bytes) => (said += bytes.toString('latin1')));
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  await Promise.race([new Promise<void>((resolve) => socket.once('connect', () => resolve())), closed]);
  if (first.length > 0) socket.write(first);
  return { socket, said: () => said, closed };
}

/** The head of a POST request, without its body. */
export function headOf(path: string, sizeBytes: number, headers: Record<string, string> = {}): string {
  const lines = Object.entries({ host: 'bot', 'content-type': 'application/json', ...headers });
  const fields = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `POST ${path} HTTP/1.1\r\n${fields}content-length: ${sizeBytes}\r\n\r\n`;
}
