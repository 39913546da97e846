import type { CheckResult } from '../../bot/platforms/platform.ts';
import { requestForCheck } from '../../shared/http/check-request.ts';
import { CasClient } from '../../shared/sign-in/cas-client.ts';
import { ProviderError } from '../../shared/sign-in/provider-error.ts';
import { resultsOf } from './results-of.ts';

const { ok, warning, fault } = resultsOf('Sign-in service');

/**
 * Validates a made-up ticket for the configured address at a CAS server, then opens its login page. Some servers check the
 * ticket first, so that only the login page shows an unregistered address.
 */
export async function checkCas(url: string, redirectUri: string): Promise<CheckResult[]> {
  try {
    const judged = judge(await new CasClient(url).findValidation(redirectUri), redirectUri);
    return judged.verdict === 'fault' ? [judged] : [(await ofLoginPage(url, redirectUri)) ?? judged];
  } catch (thrown) {
    if (!(thrown instanceof ProviderError)) throw thrown;
    const nextStep =
      thrown.code === 'failed'
        ? 'Set SIGN_IN_URL to the base address of the CAS server; /login and /serviceValidate are appended'
        : 'Check SIGN_IN_URL and that this machine can reach it';
    return [fault(thrown.message, nextStep)];
  }
}

async function ofLoginPage(url: string, redirectUri: string): Promise<CheckResult | undefined> {
  const page = await requestForCheck(new CasClient(url).loginUrl({ callbackUrl: redirectUri, state: 'check' }));
  if (!('body' in page) || page.status < 400 || page.status >= 500) return undefined;
  return fault(`refuses our address: its login page returns ${page.status}`, register(redirectUri));
}

function register(redirectUri: string): string {
  return `Register ${redirectUri} as a service in CAS, with any query string, which carries the state`;
}

type Validation = Awaited<ReturnType<CasClient['findValidation']>>;

function judge({ path, failure }: Validation, redirectUri: string): CheckResult {
  if (failure === undefined) {
    const nextStep = 'Do not use this server until it is fixed: anyone can sign in with an invented ticket';
    return fault(`accepts an invented ticket at ${path}`, nextStep);
  }
  if (failure === 'INVALID_TICKET') {
    const detail = `is a CAS server that validates tickets for our address at ${path}`;
    if (path !== '/validate') return ok(detail);
    const nextStep = 'Enable /serviceValidate as well: /validate returns neither names nor departments';
    return warning(detail, nextStep);
  }
  const nextStep = register(redirectUri);
  if (/^(INVALID_SERVICE|UNAUTHORIZED_SERVICE\w*)$/.test(failure))
    return fault(`refuses our address (${failure})`, nextStep);
  const shown = /^[A-Z_]{1,40}$/.test(failure) ? failure : 'an unexpected reply';
  return warning(`answers ${shown} to an invented ticket`, nextStep);
}
