import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import Router from '@koa/router';
import type { Context } from 'koa';
import { MessengerError } from '../messenger-error.ts';

/** Only loopback frames may be embedded in the page; images may also be previews in the composer. */
const PAGE_POLICY = [
  "default-src 'self'",
  'frame-src http://127.0.0.1:* http://localhost:*',
  "img-src 'self' data: blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.map': 'application/json',
};

/**
 * The messenger's page: `/` is its index.html, every other file is at `/assets/NAME` and at `/NAME`. @param dir of the built
 * page
 */
export function pageFiles(dir: URL): Router {
  const router = new Router();
  router.get('/', (context) => serveFile(context, dir, 'index.html'));
  router.get('/assets/:name', (context) => serveFile(context, dir, String(context.params['name'])));
  router.get('/:name', (context) => serveFile(context, dir, String(context.params['name'])));
  return router;
}

async function serveFile(context: Context, dir: URL, name: string): Promise<void> {
  const type = TYPES[extname(name)];
  if (type === undefined || !/^[\w-]+(\.[\w-]+)+$/.test(name)) throw new MessengerError('not_found', 'No such file');
  const bytes = await readFile(new URL(name, dir)).catch(() => undefined);
  if (!bytes) throw new MessengerError('not_found', 'No such file; run npm run build to build the page');
  context.set('Content-Security-Policy', PAGE_POLICY);
  context.set('X-Content-Type-Options', 'nosniff');
  context.set('Referrer-Policy', 'same-origin');
  context.set('Cache-Control', 'no-cache');
  context.type = type;
  context.body = bytes;
}
