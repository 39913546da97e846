import type { CheckResult } from '../../bot/platforms/platform.ts';
import { requestForCheck } from '../../shared/http/check-request.ts';
import { CasClient } from '../../shared/sign-in/cas-client.ts';
import { ProviderError } from '../../shared/sign-in/provider-error.ts';

const NAME = 'Sign-in service';

/**
 * Asks a CAS server about a made-up ticket for our address, then for its login page: some servers look at the ticket before the
 * address, and only their page says that the address is not served.
 */
export async function checkCas(url: string, redirectUri: string): Promise<CheckResult[]> {
  try {
    const judged = judge(await new CasClient(url).findValidation(redirectUri), redirectUri);
    return judged.verdict === 'fault' ? [judged] : [(await ofLoginPage(url, redirectUri)) ?? judged];
  } catch (thrown) {
    if (!(thrown instanceof ProviderError)) throw thrown;
    const nextStep =
      thrown.code === 'failed'
        ? 'Set SIGN_IN_URL to the base of the CAS server, to which /login and /serviceValidate are added'
        : 'See that SIGN_IN_URL is right and that this machine reaches it';
    return [{ name: NAME, verdict: 'fault', detail: thrown.message, nextStep }];
  }
}

async function ofLoginPage(url: string, redirectUri: string): Promise<CheckResult | undefined> {
  const page = await requestForCheck(new CasClient(url).loginUrl({ callbackUrl: redirectUri, state: 'check' }));
  if (!('body' in page) || page.status < 400 || page.status >= 500) return undefined;
  const detail = `refuses our address: its login page answers ${page.status}`;
  return { name: NAME, verdict: 'fault', detail, nextStep: register(redirectUri) };
}

function register(redirectUri: string): string {
  return `Register ${redirectUri} there as a service, with any query: the state travels in it`;
}

type Validation = Awaited<ReturnType<CasClient['findValidation']>>;

function judge({ path, failure }: Validation, redirectUri: string): CheckResult {
  if (failure === undefined) {
    const nextStep = 'Do not use this server before that is fixed: anybody can sign in with an invented ticket';
    return { name: NAME, verdict: 'fault', detail: `accepts a made-up ticket at ${path}`, nextStep };
  }
  if (failure === 'INVALID_TICKET') {
    const detail = `is a CAS server that answers about tickets for our address, at ${path}`;
    if (path !== '/validate') return { name: NAME, verdict: 'ok', detail };
    const nextStep = 'Let it answer at /serviceValidate too: /validate gives neither names nor departments';
    return { name: NAME, verdict: 'warning', detail, nextStep };
  }
  const nextStep = register(redirectUri);
  if (/^(INVALID_SERVICE|UNAUTHORIZED_SERVICE\w*)$/.test(failure))
    return { name: NAME, verdict: 'fault', detail: `refuses our address (${failure})`, nextStep };
  const shown = /^[A-Z_]{1,40}$/.test(failure) ? failure : 'something unusual';
  return { name: NAME, verdict: 'warning', detail: `answers ${shown} to a made-up ticket`, nextStep };
}
