import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, type AddressInfo, type Socket } from 'node:net';

/** For *.example.test, made for tests only: no process trusts it unless configured to. */
export const TEST_CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBnzCCAUagAwIBAgIUE4y+mBbA0y4YOEvSoNcCk2t4JRwwCgYIKoZIzj0EAwIw
FzEVMBMGA1UEAwwMZXhhbXBsZS50ZXN0MCAXDTI2MTEyMzA0MzMxN1oYDzIxMjYx
MDMwMDQzMzE3WjAXMRUwEwYDVQQDDAxleGFtcGxlLnRlc3QwWTATBgcqhkjOPQIB
BggqhkjOPQMBBwNCAASsCNF9z6iZY9Y3vzIwmQdICbakQmZRQmiQUvRQfq8wAEfg
+DSFH66RgTbXUriauUGOhqpq80o+iDAcU4yKhXBno24wbDAdBgNVHQ4EFgQUztE2
yJFRKdvG1KP6ulmfTNdvQRQwHwYDVR0jBBgwFoAUztE2yJFRKdvG1KP6ulmfTNdv
QRQwDwYDVR0TAQH/BAUwAwEB/zAZBgNVHREEEjAQgg4qLmV4YW1wbGUudGVzdDAK
BggqhkjOPQQDAgNHADBEAiBWd+yCGQLx4BjufgMy0+uE0pboT0l7fXy87HTlUm03
8wIgCaLmsQ4o44mI98Hf5qIxBIyzVqwJm1Wcw6EGyfv8DxY=
-----END CERTIFICATE-----
`;
const TEST_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg7pObpIiUETtQTT/Q
9fPy4QY/SNAP5QSjbXxPuTuUPjKhRANCAASsCNF9z6iZY9Y3vzIwmQdICbakQmZR
QmiQUvRQfq8wAEfg+DSFH66RgTbXUriauUGOhqpq80o+iDAcU4yKhXBn
-----END PRIVATE KEY-----
`;

export interface StandIn {
  port: number;
  close(): Promise<void>;
}

export interface ProxyStandIn extends StandIn {
  /** Requested targets, as sent to the proxy. */
  asked: string[];
  /** The credentials of the last request. */
  credentials: string | undefined;
}

/** An HTTPS server with the names of the test certificate. */
export async function startTlsStandIn(answer: RequestListener): Promise<StandIn> {
  return listening(createTlsServer({ key: TEST_KEY, cert: TEST_CERTIFICATE }, answer));
}

/** A proxy that supports only CONNECT, like institutional ones, and leads every target to a local port. */
export async function startProxyStandIn(leadsTo: (place: string) => number | undefined): Promise<ProxyStandIn> {
  const seen: Pick<ProxyStandIn, 'asked' | 'credentials'> = { asked: [], credentials: undefined };
  const server = createServer((_, response) => void response.writeHead(501).end());
  server.on('connect', (request, socket: Socket) => {
    const place = request.url ?? '';
    seen.asked.push(place);
    seen.credentials = request.headers['proxy-authorization'];
    const port = leadsTo(place);
    socket.on('error', () => undefined);
    if (port === undefined) {
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
      return;
    }
    const there = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      there.pipe(socket).pipe(there);
    });
    there.on('error', () => socket.destroy());
    socket.on('close', () => there.destroy());
  });
  return Object.assign(seen, await listening(server));
}

type Closable = ReturnType<typeof createServer> | ReturnType<typeof createTlsServer>;

async function listening(server: Closable): Promise<StandIn> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
