import { readFileSync } from 'node:fs';
import type { Middleware } from 'koa';

/** A script or style sheet of the pages. */
export function asset(type: string, text: string): Middleware {
  return (context) => {
    context.set({ 'Cache-Control': 'public, max-age=3600', 'X-Content-Type-Options': 'nosniff' });
    context.type = type;
    context.body = text;
  };
}

/** The style sheet of the sign-in pages. */
export const signInStyleSheet = asset(
  'text/css',
  readFileSync(new URL('../pages/sign-in.css', import.meta.url), 'utf8'),
);
