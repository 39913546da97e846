import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Room for tokens of 16 KiB in a header. */
const MAX_HEADER_BYTES = 65_536;

/** A test server on a free local port. */
export interface StandIn {
  url: string;
  close(): Promise<void>;
}

export async function startStandIn(
  answer: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<StandIn> {
  const server: Server = createServer(
    { maxHeaderSize: MAX_HEADER_BYTES },
    (request, response) => void answer(request, response),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => (server.closeAllConnections(), server.close(() => resolve()))),
  };
}

export async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return new URLSearchParams(body);
}
