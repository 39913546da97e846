import type { Context } from 'koa';
import type { ServiceClient } from '../clients-file.ts';
import type { ServicePerson } from '../directory-file.ts';
import type { ServiceReport } from '../service-report.ts';
import type { Consents } from './consents.ts';
import { sessionIdOf } from './cookies.ts';
import type { Directory } from './directory.ts';
import type { Forms } from './forms.ts';
import type { Grants } from './grants.ts';
import type { LoginThrottle } from './login-throttle.ts';
import type { Sessions } from './sessions.ts';
import type { Store } from './store.ts';
import { isWecomBrowser, type WecomWebSignIn } from './wecom-web-sign-in.ts';

/** What the browser's part of sign-in works with. */
export interface SignInParts {
  clients: ReadonlyMap<string, ServiceClient>;
  directory: Directory;
  store: Store;
  sessions: Sessions;
  consents: Consents;
  grants: Grants;
  forms: Forms;
  throttle: LoginThrottle;
  /** Undefined unless a WeCom app is set. */
  wecom: WecomWebSignIn | undefined;
  /** How browsers reach us, without a slash at the end. */
  publicUrl: string;
  report: ServiceReport;
}

/** WeCom's web sign-in, when this page was opened inside WeCom and an app is set. */
export function wecomFor(ctx: Context, { wecom }: SignInParts): WecomWebSignIn | undefined {
  return isWecomBrowser(ctx.get('User-Agent')) ? wecom : undefined;
}

/**
 * Who is signed in in this browser. Inside WeCom only a sign-in by WeCom counts: the app's identity decides there, whoever
 * typed a password in the same web view before.
 */
export async function signedInPerson(ctx: Context, parts: SignInParts): Promise<ServicePerson | undefined> {
  const session = await parts.sessions.find(sessionIdOf(ctx));
  if (!session || (wecomFor(ctx, parts) && session.method !== 'wecom')) return undefined;
  return parts.directory.byUsername(session.username);
}
