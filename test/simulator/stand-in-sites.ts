import type { IncomingHttpHeaders } from 'node:http';
import { listen, type ListeningServer } from '../../src/shared/http/http-server.ts';

export interface Seen {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}
interface Reply {
  status?: number;
  headers?: Record<string, string | string[]>;
  body?: string;
}

/** A site of a few pages that records its requests. */
export async function startSite(pages: (seen: Seen) => Reply): Promise<{ site: ListeningServer; seen: Seen[] }> {
  const seen: Seen[] = [];
  const site = await listen(
    (request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        // Health checks of the bot's address are ignored.
        if (request.url?.startsWith('/webhooks/')) return void response.end();
        const entry = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body };
        seen.push(entry);
        const reply = pages(entry);
        response.writeHead(reply.status ?? 200, { 'content-type': 'text/html; charset=utf-8', ...reply.headers });
        response.end(reply.body ?? '');
      });
    },
    0,
    '127.0.0.1',
  );
  return { site, seen };
}

const html = (body: string, headers: Reply['headers'] = {}): Reply => ({ body, headers });

/** A page that reports the progress of the person, with links back to the chat. */
function outcomePage(path: string): Reply {
  return html(
    `<!doctype html><html lang="en" data-outcome="${path.slice('/outcome/'.length)}"><head><title>x</title></head>` +
      `<a data-back="slack" href="slack://user?team=T1&amp;id=U1">Back to the chat</a></html>`,
    { 'content-security-policy': "default-src 'none'; script-src 'self'" },
  );
}

/** The sign-in service's pages as seen by the in-app browser. */
export function servicePages(botUrl: () => string): (seen: Seen) => Reply {
  return ({ path, headers }) => {
    if (path.startsWith('/outcome/')) return outcomePage(path);
    if (path.startsWith('/authorize')) return { status: 302, headers: { location: `${botUrl()}/callback?code=c` } };
    return html(`service ${headers.cookie ?? ''}`);
  };
}

/** The bot's pages: a sign-in link with its follow-up pages, and pages with faults. */
export function botPages(serviceUrl: () => string): (seen: Seen) => Reply {
  return ({ path, method, headers }) => {
    if (path.startsWith('/outcome/')) return outcomePage(path);
    switch (path) {
      case '/strict':
        return html('<head></head>', { 'content-security-policy': "default-src 'none'; style-src 'self'" });
      case '/scripts':
        return html('<head></head>', {
          'content-security-policy': "script-src 'self'; default-src https://x.test",
        });
      case '/free':
        return html('<head></head>');
      case '/link/abc':
        return html(
          `<link href="/style.css" rel=stylesheet><a href="${serviceUrl()}/help?a=1&amp;b=2">help</a><a target="_blank" href="https://example.org/x">out</a>` +
            `<form method="post" action="/link/abc/start"><button>go</button></form><a href="more">relative</a>`,
          {
            'x-frame-options': 'DENY',
            'content-security-policy': `default-src 'none'; style-src 'self'; form-action 'self' ${serviceUrl()}; frame-ancestors 'none'`,
            'set-cookie': '__Host-bs=secret; Secure; HttpOnly; Path=/; SameSite=Lax',
            'referrer-policy': 'same-origin',
          },
        );
      case '/link/abc/start':
        return method === 'POST' ? { status: 303, headers: { location: `${serviceUrl()}/authorize` } } : html('no');
      case '/callback?code=c':
        return { status: 303, headers: { location: '/sign-in/confirm' } };
      case '/sign-in/confirm':
        return html(`confirm ${headers.cookie ?? ''}`);
      case '/style.css':
        return { headers: { 'content-type': 'text/css' }, body: 'body{}' };
      case '/circle':
        return { status: 302, headers: { location: '/circle' } };
      case '/leave':
        return { status: 302, headers: { location: 'https://example.org/elsewhere?x=1' } };
      default:
        return html(`page ${path}`);
    }
  };
}
