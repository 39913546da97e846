import { randomBytes } from 'node:crypto';
import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { MINUTE_MS } from '../../base/clock.ts';
import { sameSecret, sha256Hex } from '../../base/ids.ts';
import { browserIdOf, knownBrowserId } from './cookies.ts';
import { beginSession } from './begin-session.ts';
import { PageError } from './sign-in-errors.ts';
import type { SignInParts } from './sign-in-parts.ts';
import type { WecomWebSignIn } from './wecom-web-sign-in.ts';

const CALLBACK = '/oauth2.0/wecom/callback';
const ROUND_TRIP_MS = 5 * MINUTE_MS;
const MAX_CODE_CHARS = 512;
const STATE = /^[0-9a-f]{64}$/;

interface RoundTrip {
  /** Hash of the browser's id: the return must come from the browser that left. */
  browser: string;
  returnTo: string;
}

/** Sends the browser to WeCom's web sign-in. The state is hex, as WeCom takes letters and digits only. */
export async function goToWecom(
  ctx: Context,
  { store, publicUrl }: SignInParts,
  { wecom, returnTo }: { wecom: WecomWebSignIn; returnTo: string },
): Promise<void> {
  const state = randomBytes(32).toString('hex');
  const trip: RoundTrip = { browser: sha256Hex(browserIdOf(ctx)), returnTo };
  await store.use((redis) =>
    redis.set(store.key('wecom-state', sha256Hex(state)), JSON.stringify(trip), 'PX', ROUND_TRIP_MS),
  );
  ctx.redirect(wecom.authorizeUrl(`${publicUrl}${CALLBACK}`, state));
}

/** The return from WeCom: who is it, and on to where they came from. No password is asked on this way. */
export function addWecomRoutes(router: Router, parts: SignInParts): void {
  router.get(CALLBACK, async (ctx) => {
    if (!parts.wecom) throw new PageError('not_found', 'No WeCom app is set');
    const { code, state } = readReturn(ctx);
    const { returnTo } = await takeRoundTrip(ctx, parts, state);
    const userId = await identify(parts.wecom, code, returnTo);
    const person = userId === undefined ? undefined : parts.directory.byWecomId(userId);
    if (!person) throw new PageError('unknown_person', 'The WeCom user is not in the directory');
    await beginSession(ctx, parts, { person, method: 'wecom' });
    ctx.set('Referrer-Policy', 'no-referrer');
    ctx.redirect(returnTo);
    ctx.status = 303;
  });
}

function readReturn(ctx: Context): { code: string; state: string } {
  const { code, state } = ctx.query;
  const isSound =
    typeof code === 'string' &&
    typeof state === 'string' &&
    code !== '' &&
    code.length <= MAX_CODE_CHARS &&
    STATE.test(state);
  if (!isSound) throw new PageError('app_sign_in_lost', 'The return from WeCom lacks its code or state');
  return { code, state };
}

async function takeRoundTrip(ctx: Context, { store }: SignInParts, state: string): Promise<RoundTrip> {
  const stored = await store.use((redis) => redis.getdel(store.key('wecom-state', sha256Hex(state))));
  const trip = stored === null ? undefined : (JSON.parse(stored) as RoundTrip);
  const browserId = knownBrowserId(ctx);
  if (!trip || browserId === undefined || !sameSecret(sha256Hex(browserId), trip.browser)) {
    throw new PageError('app_sign_in_lost', 'The return from WeCom does not belong to this browser');
  }
  return trip;
}

/** A failure gets a button that starts the round trip anew. */
async function identify(wecom: WecomWebSignIn, code: string, returnTo: string): Promise<string | undefined> {
  try {
    return await wecom.identify(code);
  } catch (error) {
    if (!(error instanceof PageError)) throw error;
    throw new PageError(error.code, error.message, { tryAgainPath: returnTo });
  }
}
