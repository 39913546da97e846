import type { Context } from 'koa';
import { randomToken } from '../../base/ids.ts';

/** Names a browser, so that a form or a return works only where it began. */
const BROWSER = '__Host-svc-browser';
const SESSION = '__Host-svc-session';
const TOKEN = /^[\w-]{43}$/;

/** The browser's own id; a first visit gets one. */
export function browserIdOf(ctx: Context): string {
  const known = read(ctx, BROWSER);
  if (known !== undefined) return known;
  const made = randomToken();
  write(ctx, BROWSER, made);
  return made;
}

/** The browser's id, if it kept the cookie. */
export function knownBrowserId(ctx: Context): string | undefined {
  return read(ctx, BROWSER);
}

export function sessionIdOf(ctx: Context): string | undefined {
  return read(ctx, SESSION);
}

/** Begins a session in this browser; the browser's id changes too, so that nothing from before the sign-in goes on. */
export function setSession(ctx: Context, sessionId: string): void {
  write(ctx, SESSION, sessionId);
  write(ctx, BROWSER, randomToken());
}

export function clearCookies(ctx: Context): void {
  for (const name of [SESSION, BROWSER])
    ctx.append('Set-Cookie', `${name}=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0`);
}

function read(ctx: Context, name: string): string | undefined {
  const value = ctx.cookies.get(name);
  return value !== undefined && TOKEN.test(value) ? value : undefined;
}

/** Written by hand: the cookie library refuses `Secure` on plain http, which browsers accept on the loopback. */
function write(ctx: Context, name: string, value: string): void {
  ctx.append('Set-Cookie', `${name}=${value}; Path=/; Secure; HttpOnly; SameSite=Lax`);
}
