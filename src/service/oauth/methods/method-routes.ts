import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { Person } from '../../directory-file.ts';
import type { Directory } from '../directory.ts';
import type { People } from '../people.ts';
import { readReturnTo } from '../return-to.ts';
import { PageError } from '../sign-in-errors.ts';
import type { Visitors } from '../browser-sessions.ts';
import { callbackOf, withWayOn, type LeaveFor } from './leave-for.ts';
import type { AnySignIn, Arrival } from './redirect-sign-in.ts';
import type { RoundTrips } from './round-trips.ts';
import type { SignInMethods } from './sign-in-methods.ts';

/** Longer than any code, ticket or state that was seen; a whole address fits into 8 KiB of headers anyway. */
const MAX_PARAMETER_CHARS = 4_096;

export interface MethodRouteParts {
  methods: SignInMethods;
  leaveFor: LeaveFor;
  roundTrips: RoundTrips;
  /** How browsers reach us, without a slash at the end. */
  publicUrl: string;
  people: People;
  directory: Directory;
  visitors: Visitors;
}

/** `/sign-in/NAME`, where a button leads, and `/sign-in/NAME/callback`, where everybody comes back. */
export function addMethodRoutes(router: Router, parts: MethodRouteParts): void {
  const { methods, leaveFor, roundTrips, publicUrl, visitors } = parts;
  router.get('/sign-in/:name', async (ctx) => {
    const method = requireMethod(methods, ctx.params['name']);
    const returnTo = readReturnTo(ctx);
    // A HEAD only looks.
    if (ctx.method === 'HEAD') return void (ctx.status = 200);
    return leaveFor(ctx, { method, returnTo, isAnew: ctx.query['anew'] === 'yes' });
  });

  router.get('/sign-in/:name/callback', async (ctx) => {
    const method = requireMethod(methods, ctx.params['name']);
    if (ctx.method === 'HEAD') return void (ctx.status = 200);
    const query = readQuery(ctx, method);
    const state = query.get('state') ?? '';
    const { returnTo, kept } = await roundTrips.find(ctx, state, method.name);
    const arrival = { callbackUrl: callbackOf(publicUrl, method), state, query, kept };
    const person = await withWayOn(returnTo, () => findPerson(parts, method, arrival));
    await roundTrips.end(ctx, state, method.name);
    await visitors.begin(ctx, { person, method: method.name });
    // What came back must not go on as a referrer (SECURITY.md page-headers).
    ctx.set('Referrer-Policy', 'no-referrer');
    ctx.redirect(returnTo);
    ctx.status = 303;
  });

  router.post('/sign-in/:name/callback', (ctx) => refuseForm(requireMethod(methods, ctx.params['name']).name));
}

/** A form from another site comes without the cookie of the departure. @throws PageError `sign_in_lost` */
function refuseForm(name: string): never {
  throw new PageError(
    'sign_in_lost',
    `A return by ${name} came by POST: let it come by a redirect (response_mode=query)`,
  );
}

function requireMethod(methods: SignInMethods, name: string | undefined): AnySignIn {
  const method = methods.named(name ?? '');
  if (!method) throw new PageError('not_found', 'There is no such way to sign in');
  return method;
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
async function findPerson(
  { people, directory }: Pick<MethodRouteParts, 'people' | 'directory'>,
  method: AnySignIn,
  arrival: Arrival,
): Promise<Person> {
  if ('origin' in method) {
    const found = await method.identify(arrival);
    const person = found && (await people.admit(found.person));
    if (!person) throw new PageError('unknown_person', `${method.name} does not know this person`);
    if (!person.profile.active) throw new PageError('inactive_person', `${method.name} brought an inactive person`);
    return person;
  }
  const found = await method.identify(arrival);
  const person = found && directory.byMessagingId(method.name, found.userId, method.ignoresCase);
  if (!person) throw new PageError('unknown_person', `The ${method.name} user is not in the directory`);
  return person;
}
