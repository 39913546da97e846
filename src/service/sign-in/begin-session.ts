import type { Context } from 'koa';
import type { Person } from '../directory-file.ts';
import { sessionIdOf, setSession } from './cookies.ts';
import type { SignInParts } from './sign-in-parts.ts';

/** Starts a new session in this browser and ends the one that was there. @throws StoreError */
export async function beginSession(
  ctx: Context,
  { sessions, report }: SignInParts,
  { person, method }: { person: Person; method: string },
): Promise<void> {
  await sessions.end(sessionIdOf(ctx));
  setSession(ctx, await sessions.start({ username: person.username, method }));
  report.signInStep({ step: 'signed-in', reason: method });
}
