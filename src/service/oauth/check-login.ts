import type { Context } from 'koa';
import { clientAddress } from '../../shared/http/client-address.ts';
import type { ServicePerson } from '../directory-file.ts';
import type { ServiceReport } from '../service-report.ts';
import type { Directory } from './directory.ts';
import type { KnownDevices } from './known-devices.ts';
import type { LoginThrottle } from './login-throttle.ts';
import type { TimingDummyHash } from './timing-dummy-hash.ts';
import { verifyPassword } from './passwords.ts';

/** The person with this username and password; otherwise the time to wait after too many attempts. */
export type CheckLogin = (
  ctx: Context,
  typed: { username: string; password: string },
) => Promise<ServicePerson | { retryAfterSec: number | undefined }>;

export interface CheckLoginParts {
  directory: Directory;
  nobodysPassword: TimingDummyHash;
  throttle: LoginThrottle;
  knownDevices: KnownDevices;
  trustedProxyHops: number;
  report: ServiceReport;
}

export function createCheckLogin(parts: CheckLoginParts): CheckLogin {
  const { directory, nobodysPassword, throttle, knownDevices, trustedProxyHops, report } = parts;
  return async (ctx, { username, password }) => {
    const person = directory.byUsername(username);
    const address = clientAddress(ctx.req, trustedProxyHops);
    const tried = { username, address, deviceId: knownDevices.idFor(ctx, username) };
    const verdict = await throttle.attempt(tried, async () => {
      // If the client has already disconnected, skip the hash; it counts as a wrong password.
      if (ctx.req.socket.destroyed) return false;
      return verifyPassword(password, person?.password ?? nobodysPassword.hashFor(username));
    });
    if (person && verdict.isRight) {
      knownDevices.remember(ctx, username);
      return person;
    }
    report.signInStep({ step: 'login-refused' });
    return { retryAfterSec: verdict.isRight ? undefined : verdict.retryAfterSec };
  };
}
