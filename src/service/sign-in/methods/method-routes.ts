import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { Person } from '../../directory-file.ts';
import { beginSession } from '../begin-session.ts';
import { PageError, type PageErrorCode } from '../sign-in-errors.ts';
import { chooseSignInPath, readReturnTo } from '../return-to.ts';
import type { SignInParts } from '../sign-in-parts.ts';
import type { AnySignIn, Arrival } from './redirect-sign-in.ts';

/** Longer than any code, ticket or state that was seen; a whole address fits into 8 KiB of headers anyway. */
const MAX_PARAMETER_CHARS = 4_096;

/** After these the same person would only fail again: the button leads to the choice, where somebody else can sign in. */
const ANOTHER_PERSON: readonly PageErrorCode[] = ['sign_in_declined', 'profile_unusable', 'inactive_person'];

/** Sends the browser off to sign in elsewhere. @throws PageError, StoreError */
export async function leaveFor(
  ctx: Context,
  { roundTrips, publicUrl }: SignInParts,
  { method, returnTo, isAnew = false }: { method: AnySignIn; returnTo: string; isAnew?: boolean },
): Promise<void> {
  const state = roundTrips.newState();
  const { location, kept } = await withWayOn(returnTo, () =>
    method.leave({ callbackUrl: callbackOf(publicUrl, method), state, isAnew }),
  );
  roundTrips.begin(ctx, state, { method: method.name, returnTo, kept });
  ctx.redirect(location);
}

/** `/sign-in/NAME`, where a button leads, and `/sign-in/NAME/callback`, where everybody comes back. */
export function addMethodRoutes(router: Router, parts: SignInParts): void {
  router.get('/sign-in/:name', async (ctx) => {
    const method = requireMethod(parts, ctx.params['name']);
    const returnTo = readReturnTo(ctx);
    // A HEAD only looks.
    if (ctx.method === 'HEAD') return void (ctx.status = 200);
    return leaveFor(ctx, parts, { method, returnTo, isAnew: ctx.query['anew'] === 'yes' });
  });

  router.get('/sign-in/:name/callback', async (ctx) => {
    const method = requireMethod(parts, ctx.params['name']);
    if (ctx.method === 'HEAD') return void (ctx.status = 200);
    const query = readQuery(ctx, method);
    const state = query.get('state') ?? '';
    const { returnTo, kept } = await parts.roundTrips.find(ctx, state, method.name);
    const arrival = { callbackUrl: callbackOf(parts.publicUrl, method), state, query, kept };
    const person = await withWayOn(returnTo, () => findPerson(parts, method, arrival));
    await parts.roundTrips.end(ctx, state, method.name);
    await beginSession(ctx, parts, { person, method: method.name });
    // What came back must not go on as a referrer (SECURITY.md page-headers).
    ctx.set('Referrer-Policy', 'no-referrer');
    ctx.redirect(returnTo);
    ctx.status = 303;
  });
}

function requireMethod({ methods }: SignInParts, name: string | undefined): AnySignIn {
  const method = methods.named(name ?? '');
  if (!method) throw new PageError('not_found', 'There is no such way to sign in');
  return method;
}

function callbackOf(publicUrl: string, { name }: AnySignIn): string {
  return `${publicUrl}/sign-in/${name}/callback`;
}

/** Refuses repeated and over-long parameters (SECURITY.md plain-callbacks). */
function readQuery(ctx: Context, { name }: AnySignIn): URLSearchParams {
  const query = new URLSearchParams(ctx.querystring);
  const isSound =
    new Set(query.keys()).size === query.size &&
    [...query.values()].every((value) => value.length <= MAX_PARAMETER_CHARS);
  if (!isSound) throw new PageError('sign_in_lost', `A return by ${name} has repeated or over-long parameters`);
  return query;
}

/** @throws PageError `unknown_person`, `inactive_person`, and what `identify` throws */
async function findPerson(parts: SignInParts, method: AnySignIn, arrival: Arrival): Promise<Person> {
  if ('origin' in method) {
    const found = await method.identify(arrival);
    const person = found && (await parts.people.admit(found.person));
    if (!person) throw new PageError('unknown_person', `${method.name} does not know this person`);
    if (!person.profile.active) throw new PageError('inactive_person', `${method.name} brought an inactive person`);
    return person;
  }
  const found = await method.identify(arrival);
  const person = found && parts.directory.byMessagingId(method.name, found.userId, method.ignoresCase);
  if (!person) throw new PageError('unknown_person', `The ${method.name} user is not in the directory`);
  return person;
}

/** Gives a failure the button that leads on. */
async function withWayOn<Result>(returnTo: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PageError)) throw error;
    const isAnother = ANOTHER_PERSON.includes(error.code);
    throw new PageError(error.code, error.message, {
      tryAgainPath: isAnother ? chooseSignInPath(returnTo) : returnTo,
      cause: error.cause,
    });
  }
}
