import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { Person } from '../../directory-file.ts';
import type { Directory } from '../directory.ts';
import type { People } from '../people.ts';
import { readReturnTo } from '../return-to.ts';
import { PageError } from '../sign-in-errors.ts';
import type { BrowserSessions } from '../browser-sessions.ts';
import { callbackOf, withRetryLink, type RedirectToProvider } from './redirect-to-provider.ts';
import type { AnySignIn, ProviderCallback } from './redirect-sign-in.ts';
import type { RoundTrips } from './round-trips.ts';
import type { SignInMethods } from './sign-in-methods.ts';

/** Longer than any known code, ticket or state; 8 KiB of headers limit the whole address anyway. */
const MAX_PARAMETER_CHARS = 4_096;

export interface MethodRouteParts {
  methods: SignInMethods;
  leaveFor: RedirectToProvider;
  roundTrips: RoundTrips;
  /** Public URL for browsers, without a trailing slash. */
  publicUrl: string;
  people: People;
  directory: Directory;
  visitors: BrowserSessions;
}

/** `/sign-in/NAME`, the target of a button, and `/sign-in/NAME/callback`, to which browsers return. */
export function addMethodRoutes(router: Router, parts: MethodRouteParts): void {
  const { methods, leaveFor, roundTrips, publicUrl, visitors } = parts;
  router.get('/sign-in/:name', async (ctx) => {
    const method = requireMethod(methods, ctx.params['name']);
    const returnTo = readReturnTo(ctx);
    // HEAD has no effects.
    if (ctx.method === 'HEAD') return void (ctx.status = 200);
    return leaveFor(ctx, { method, returnTo, forcesLogin: ctx.query['prompt'] === 'login' });
  });

  router.get('/sign-in/:name/callback', async (ctx) => {
    const method = requireMethod(methods, ctx.params['name']);
    if (ctx.method === 'HEAD') return void (ctx.status = 200);
    const query = readQuery(ctx, method);
    const state = query.get('state') ?? '';
    const { returnTo, kept } = await roundTrips.find(ctx, state, method.name);
    const arrival = { callbackUrl: callbackOf(publicUrl, method), state, query, kept };
    const person = await withRetryLink(returnTo, () => findPerson(parts, method, arrival));
    await roundTrips.end(ctx, state, method.name);
    await visitors.begin(ctx, { person, method: method.name });
    // The callback's parameters must not leak as a referrer (SECURITY.md page-headers).
    ctx.set('Referrer-Policy', 'no-referrer');
    ctx.redirect(returnTo);
    ctx.status = 303;
  });

  router.post('/sign-in/:name/callback', (ctx) => refuseForm(requireMethod(methods, ctx.params['name']).name));
}

/** A form from another site arrives without the cookie from the start. @throws PageError `sign_in_lost` */
function refuseForm(name: string): never {
  throw new PageError(
    'sign_in_lost',
    `A return from ${name} used POST: set response_mode=query at the provider so that it uses a redirect`,
  );
}

function requireMethod(methods: SignInMethods, name: string | undefined): AnySignIn {
  const method = methods.named(name ?? '');
  if (!method) throw new PageError('not_found', 'This sign-in method does not exist');
  return method;
}

/** Rejects repeated and overlong parameters (SECURITY.md plain-callbacks). */
function readQuery(ctx: Context, { name }: AnySignIn): URLSearchParams {
  const query = new URLSearchParams(ctx.querystring);
  const isSound =
    new Set(query.keys()).size === query.size &&
    [...query.values()].every((value) => value.length <= MAX_PARAMETER_CHARS);
  if (!isSound) throw new PageError('sign_in_lost', `A return from ${name} has repeated or overlong parameters`);
  return query;
}

/** @throws PageError `unknown_person`, `inactive_person`, and the errors of `identify` */
async function findPerson(
  { people, directory }: Pick<MethodRouteParts, 'people' | 'directory'>,
  method: AnySignIn,
  arrival: ProviderCallback,
): Promise<Person> {
  if ('origin' in method) {
    const found = await method.identify(arrival);
    const person = found && (await people.admit(found.person));
    if (!person) throw new PageError('unknown_person', `${method.name} does not know this person`);
    if (!person.profile.active) throw new PageError('inactive_person', `${method.name} returned an inactive person`);
    return person;
  }
  const found = await method.identify(arrival);
  const person = found && directory.byMessagingId(method.name, found.userId, method.ignoresCase);
  if (!person) throw new PageError('unknown_person', `The ${method.name} user is not in the directory`);
  return person;
}
