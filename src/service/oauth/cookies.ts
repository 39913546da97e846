import type { Context } from 'koa';
import { SECOND_MS } from '../../shared/clock.ts';
import { randomToken } from '../../shared/crypto/ids.ts';

/** Identifies a browser, so that a form or a return only works in the browser where it began. */
const BROWSER = '__Host-svc-browser';
const SESSION = '__Host-svc-session';
const DEVICES = '__Host-svc-devices';
const TOKEN = /^[\w-]{43}$/;
/**
 * Prefix of the cookie name of a round trip. Each has a separate cookie, because one browser may have several in progress.
 */
const TRIP = '__Host-svc-trip-';
const TRIP_COOKIE = /^__Host-svc-trip-(?<name>[0-9a-f]{16})=(?<value>[\w.-]+)$/;
/** An id, and a signed date for each of at most five people. */
const DEVICES_VALUE = /^[\w-]{22}(?:\.\d{1,6}-[\w-]{22}){1,5}$/;

/** The browser's id; created on the first visit. */
export function browserIdOf(ctx: Context): string {
  const known = read(ctx, BROWSER);
  if (known !== undefined) return known;
  const made = randomToken();
  write(ctx, BROWSER, made);
  return made;
}

/** The browser's id, if it has kept the cookie. */
export function knownBrowserId(ctx: Context): string | undefined {
  return read(ctx, BROWSER);
}

export function sessionIdOf(ctx: Context): string | undefined {
  return read(ctx, SESSION);
}

/** Starts a session in this browser. The browser's id changes too, so that nothing from before the sign-in remains valid. */
export function setSession(ctx: Context, sessionId: string): void {
  write(ctx, SESSION, sessionId);
  write(ctx, BROWSER, randomToken());
}

/** Round trips stored in this browser (`methods/round-trips.ts`). */
export function tripCookies(ctx: Context): { name: string; value: string }[] {
  return ctx
    .get('Cookie')
    .split(';')
    .flatMap((pair) => {
      const { name, value } = TRIP_COOKIE.exec(pair.trim())?.groups ?? {};
      return name === undefined || value === undefined ? [] : [{ name, value }];
    });
}

export function writeTripCookie(ctx: Context, name: string, value: string, lifeMs: number): void {
  write(ctx, TRIP + name, value, `; Max-Age=${lifeMs / SECOND_MS}`);
}

export function clearTripCookie(ctx: Context, name: string): void {
  write(ctx, TRIP + name, '', '; Max-Age=0');
}

/** The browser's record of people who have signed in there; kept after sign-out. */
export function readDevices(ctx: Context): string | undefined {
  const value = ctx.cookies.get(DEVICES);
  return value !== undefined && DEVICES_VALUE.test(value) ? value : undefined;
}

export function writeDevices(ctx: Context, value: string, lifeSec: number): void {
  write(ctx, DEVICES, value, `; Max-Age=${lifeSec}`);
}

export function clearCookies(ctx: Context): void {
  for (const name of [SESSION, BROWSER]) write(ctx, name, '', '; Max-Age=0');
}

function read(ctx: Context, name: string): string | undefined {
  const value = ctx.cookies.get(name);
  return value !== undefined && TOKEN.test(value) ? value : undefined;
}

/** Written without the cookie library, which refuses `Secure` on plain http although browsers accept it on loopback. */
function write(ctx: Context, name: string, value: string, life = ''): void {
  ctx.append('Set-Cookie', `${name}=${value}; Path=/; Secure; HttpOnly; SameSite=Lax${life}`);
}
