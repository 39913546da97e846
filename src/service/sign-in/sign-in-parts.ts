import type { Context } from 'koa';
import type { ServiceClient } from '../clients-file.ts';
import type { Person } from '../directory-file.ts';
import type { ServiceReport } from '../service-report.ts';
import type { Consents } from './consents.ts';
import { sessionIdOf } from './cookies.ts';
import type { Directory } from './directory.ts';
import type { Forms } from './forms.ts';
import type { Grants } from './grants.ts';
import type { KnownDevices } from './known-devices.ts';
import type { LoginThrottle } from './login-throttle.ts';
import type { MessagingAppSignIn } from './methods/redirect-sign-in.ts';
import type { RoundTrips } from './methods/round-trips.ts';
import type { SignInMethods } from './methods/sign-in-methods.ts';
import type { NobodysPassword } from './nobodys-password.ts';
import type { People } from './people.ts';
import type { Sessions } from './sessions.ts';
import type { Store } from './store.ts';

/** What the browser's part of sign-in works with. */
export interface SignInParts {
  clients: ReadonlyMap<string, ServiceClient>;
  directory: Directory;
  people: People;
  store: Store;
  sessions: Sessions;
  consents: Consents;
  grants: Grants;
  forms: Forms;
  throttle: LoginThrottle;
  knownDevices: KnownDevices;
  nobodysPassword: NobodysPassword;
  methods: SignInMethods;
  roundTrips: RoundTrips;
  /** How browsers reach us, without a slash at the end. */
  publicUrl: string;
  trustedProxyHops: number;
  report: ServiceReport;
}

/** The web sign-in of the messaging app in which this page was opened. */
export function appFor(ctx: Context, { methods }: SignInParts): MessagingAppSignIn | undefined {
  return methods.appFor(ctx.get('User-Agent'));
}

/**
 * Who is signed in in this browser. Inside a messaging app only a sign-in by that app counts: its identity decides there,
 * whoever typed a password in the same web view before.
 */
export async function signedInPerson(ctx: Context, parts: SignInParts): Promise<Person | undefined> {
  const session = await parts.sessions.find(sessionIdOf(ctx));
  const app = appFor(ctx, parts);
  if (!session || (app && session.method !== app.name)) return undefined;
  return parts.people.byUsername(session.username);
}
