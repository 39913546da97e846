import type { CheckResult } from '../../bot/platforms/platform.ts';
import { requestForCheck } from '../../shared/http/check-request.ts';
import { CasClient } from '../../shared/sign-in/cas-client.ts';
import { ProviderError } from '../../shared/sign-in/provider-error.ts';

const NAME = 'Sign-in service';

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
    return [{ name: NAME, verdict: 'fault', detail: thrown.message, nextStep }];
  }
}

async function ofLoginPage(url: string, redirectUri: string): Promise<CheckResult | undefined> {
  const page = await requestForCheck(new CasClient(url).loginUrl({ callbackUrl: redirectUri, state: 'check' }));
  if (!('body' in page) || page.status < 400 || page.status >= 500) return undefined;
  const detail = `refuses our address: its login page returns ${page.status}`;
  return { name: NAME, verdict: 'fault', detail, nextStep: register(redirectUri) };
}

function register(redirectUri: string): string {
  return `Register ${redirectUri} as a service in CAS, with any query string, which carries the state`;
}

type Validation = Awaited<ReturnType<CasClient['findValidation']>>;

function judge({ path, failure }: Validation, redirectUri: string): CheckResult {
  if (failure === undefined) {
    const nextStep = 'Do not use this server until it is fixed: anyone can sign in with an invented ticket';
    return { name: NAME, verdict: 'fault', detail: `accepts an invented ticket at ${path}`, nextStep };
  }
  if (failure === 'INVALID_TICKET') {
    const detail = `is a CAS server that validates tickets for our address at ${path}`;
    if (path !== '/validate') return { name: NAME, verdict: 'ok', detail };
    const nextStep = 'Enable /serviceValidate as well: /validate returns neither names nor departments';
    return { name: NAME, verdict: 'warning', detail, nextStep };
  }
  const nextStep = register(redirectUri);
  if (/^(INVALID_SERVICE|UNAUTHORIZED_SERVICE\w*)$/.test(failure))
    return { name: NAME, verdict: 'fault', detail: `refuses our address (${failure})`, nextStep };
  const shown = /^[A-Z_]{1,40}$/.test(failure) ? failure : 'an unexpected reply';
  return { name: NAME, verdict: 'warning', detail: `answers ${shown} to an invented ticket`, nextStep };
}
