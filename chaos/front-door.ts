import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Gateway } from './gateway.ts';

/** The public address of the sign-in pages: a reverse proxy in front of the receivers, as in a deployment. */
export interface FrontDoor {
  readonly url: string;
  /** Returns 503 until the receivers are known. */
  openTo(gateway: Gateway): void;
  close(): Promise<void>;
}

const LIMIT_MS = 4_000;

/** Starts it on a free port. Each visit counts as one from a different address, as if from many people. */
export async function startFrontDoor(): Promise<FrontDoor> {
  let behind: Gateway | undefined;
  let visits = 0;
  const server = createServer((visit, answer) => {
    const fail = (status: number) => {
      if (!answer.headersSent) answer.writeHead(status);
      answer.end();
    };
    visits += 1;
    const address = `10.${(visits >> 16) & 255}.${(visits >> 8) & 255}.${visits & 255}`;
    const headers = { ...visit.headers, 'x-forwarded-for': address };
    const pass = async () => {
      if (!behind) return fail(503);
      const { url } = await behind.pick();
      const onward = request(`${url}${visit.url ?? '/'}`, { method: visit.method, headers, agent: false });
      onward.setTimeout(LIMIT_MS, () => onward.destroy(new Error('No answer in time')));
      onward.once('error', () => fail(502));
      onward.once('response', (response) => {
        answer.writeHead(response.statusCode ?? 502, response.headers);
        response.once('error', () => answer.destroy());
        response.pipe(answer);
      });
      visit.pipe(onward);
    };
    pass().catch(() => fail(502));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    openTo: (gateway) => (behind = gateway),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
