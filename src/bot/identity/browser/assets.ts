import type { Middleware } from 'koa';
import { styleSheet } from '../../../shared/pages/style-sheet.ts';

/** A script or style sheet of the pages. */
export function asset(type: string, text: string): Middleware {
  return (context) => {
    context.set({ 'Cache-Control': 'public, max-age=3600', 'X-Content-Type-Options': 'nosniff' });
    context.type = type;
    context.body = text;
  };
}

/** The style sheet of the sign-in pages. */
export const SIGN_IN_STYLE = styleSheet(new URL('../pages/sign-in.css', import.meta.url));
export const signInStyleSheet = asset('text/css', SIGN_IN_STYLE);
