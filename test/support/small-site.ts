import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A page at an address of a small site. */
export interface SitePage {
  body?: string | Buffer;
  /** Defaults to `text/html`. */
  type?: string;
  status?: number;
  headers?: Record<string, string>;
  /** Custom response. */
  answer?(request: IncomingMessage, response: ServerResponse): void;
}

/** A local site of an institution, with conditional requests for pages with an `etag`. */
export interface SmallSite {
  /** Without a trailing slash. */
  url: string;
  /** By path; 404 for all others. */
  pages: Map<string, SitePage>;
  /** Requests, in order. */
  asked: { path: string; headers: IncomingHttpHeaders; atMs: number }[];
  /** Maximum number of concurrent responses. */
  maxAtOnce: number;
  close(): Promise<void>;
}

export async function startSmallSite(): Promise<SmallSite> {
  let open = 0;
  const site: SmallSite = {
    url: '',
    pages: new Map(),
    asked: [],
    maxAtOnce: 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    site.asked.push({ path, headers: request.headers, atMs: performance.now() });
    site.maxAtOnce = Math.max(site.maxAtOnce, (open += 1));
    response.on('close', () => (open -= 1));
    const page = site.pages.get(path);
    if (!page) response.writeHead(404).end();
    else if (page.answer) page.answer(request, response);
    else answerWith(page, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  site.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return site;
}

function answerWith(
  { body = '', type = 'text/html; charset=utf-8', status = 200, headers = {} }: SitePage,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { etag, 'last-modified': lastModified } = headers;
  const isSame =
    (etag !== undefined && request.headers['if-none-match'] === etag) ||
    (etag === undefined && lastModified !== undefined && request.headers['if-modified-since'] === lastModified);
  if (isSame) response.writeHead(304, headers).end();
  else response.writeHead(status, { 'content-type': type, ...headers }).end(body);
}

/** A sitemap of these addresses, each with the day of its last change if given. */
export function sitemapOf(entries: readonly (string | readonly [address: string, lastmod: string])[]): SitePage {
  const urls = entries.map((entry) => {
    const [address, lastmod] = typeof entry === 'string' ? [entry, undefined] : entry;
    const escaped = address.replaceAll('&', '&amp;');
    return `<url><loc>${escaped}</loc>${lastmod === undefined ? '' : `<lastmod>${lastmod}</lastmod>`}</url>`;
  });
  const body = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls.join('\n')}</urlset>`;
  return { body, type: 'application/xml' };
}
