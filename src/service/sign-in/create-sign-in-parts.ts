import { HOUR_MS, SECOND_MS } from '../../base/clock.ts';
import type { KeyRing } from '../../base/key-ring.ts';
import { PAGE_TEXTS } from '../pages/service-page-texts.ts';
import type { ServiceReport } from '../service-report.ts';
import type { ServiceOptions } from '../start-service.ts';
import { Consents } from './consents.ts';
import { Directory } from './directory.ts';
import { Forms } from './forms.ts';
import { Grants } from './grants.ts';
import { KnownDevices } from './known-devices.ts';
import { LoginThrottle } from './login-throttle.ts';
import type { InstitutionSignIn } from './methods/redirect-sign-in.ts';
import { RoundTrips } from './methods/round-trips.ts';
import { SignInMethods } from './methods/sign-in-methods.ts';
import { NobodysPassword } from './nobodys-password.ts';
import { People } from './people.ts';
import { SESSION_LIFE_MS, Sessions } from './sessions.ts';
import type { SignInParts } from './sign-in-parts.ts';
import { Store } from './store.ts';

/** The institution's unified identity. */
export interface Institution {
  signIn: InstitutionSignIn;
  /** What people call it, for the button; "your institution" unless told. */
  name?: string;
}

/** Builds what the browser's part of sign-in works with. */
export function createSignInParts(
  options: ServiceOptions & { keyRing: KeyRing },
  publicUrl: string,
  report: ServiceReport,
): SignInParts {
  const { nowMs, accessTokenSec, refreshTokenSec, institution, keyRing } = options;
  const store = new Store(options.redis, keyRing);
  const directory = new Directory(options.directory);
  const origin = institution?.signIn.origin;
  // A session's last moment may give a code, its refresh token's last moment an access token.
  const keptMs = SESSION_LIFE_MS + (refreshTokenSec + accessTokenSec) * SECOND_MS + HOUR_MS;
  const name = institution?.name;
  const trustedProxyHops = options.trustedProxyHops ?? 0;
  const people = new People({ directory, store, keyRing, origin, keptMs });
  const isKnown = async (username: string) => (await people.byUsername(username)) !== undefined;
  return {
    clients: new Map(options.clients.map((client) => [client.clientId, client])),
    directory,
    people,
    store,
    sessions: new Sessions(store),
    consents: new Consents(store, nowMs),
    grants: new Grants({ store, accessTokenSec, refreshTokenSec, isKnown, nowMs }),
    forms: new Forms(keyRing, nowMs, { publicUrl, trustedProxyHops }),
    throttle: new LoginThrottle(store, options.loginLimits),
    knownDevices: new KnownDevices(keyRing, nowMs),
    nobodysPassword: new NobodysPassword(options.directory, keyRing.deriveKey('service-nobodys-password')),
    methods: new SignInMethods({
      messagingApps: (options.messagingApps ?? []).map((make) => make(store)),
      institution: institution?.signIn,
      institutionName: name === undefined ? PAGE_TEXTS.institutionSignIn : { en: name, zh: name },
      knowsUsersOf: (app) => directory.knowsUsersOf(app),
      hasPasswords: !directory.isEmpty,
    }),
    roundTrips: new RoundTrips(store, nowMs),
    publicUrl,
    trustedProxyHops,
    report,
  };
}
