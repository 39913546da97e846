import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { PUBLIC_WEB, type EgressPolicy } from '../../src/shared/web/egress-policy.ts';

const NAME = 'news.library.example';

/** The web as seen by the tools of a test: one local search service and one local site. */
export interface SmallWeb {
  /** For `WEB_SEARCH_URL`. It finds one page for everything except broken queries. */
  searchUrl: string;
  /** The address of the site, without a trailing slash. */
  pageUrl: string;
  /** The addresses that the tools may reach: the site under its host name, and the public web. */
  reach: EgressPolicy;
  /** Host and path of every opened page. */
  opened: string[];
  /** Holds all responses until the returned function is called. */
  hold(): () => void;
  close(): Promise<void>;
}

export async function startSmallWeb(): Promise<SmallWeb> {
  let held = Promise.resolve();
  const opened: string[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request);
    await held;
    if (request.url !== '/search') {
      opened.push(`${request.headers.host ?? ''}${request.url ?? ''}`);
      response.setHeader('content-type', 'text/plain; charset=utf-8').end('The library opens at seven.');
      return;
    }
    const query = new URLSearchParams(body).get('q') ?? '';
    if (/broken|坏/.test(query)) response.statusCode = 500;
    const page = {
      title: `All about ${query}`,
      url: `https://found.example/${encodeURIComponent(query)}`,
      content: 'They sleep in the water.',
    };
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ results: [page] }));
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    searchUrl: `http://127.0.0.1:${port}`,
    opened,
    pageUrl: `http://${NAME}:${port}`,
    reach: {
      ...PUBLIC_WEB,
      protocols: ['http:'],
      mayUsePort: (asked) => asked === port,
      mayConnect: (address) => address === '127.0.0.1',
      resolve: async (hostname) => (hostname === NAME ? ['127.0.0.1'] : PUBLIC_WEB.resolve(hostname)),
    },
    hold() {
      let letGo: () => void = () => undefined;
      held = new Promise((resolve) => (letGo = resolve));
      return letGo;
    },
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}
