import type { CheckResult } from '../../bot/platforms/platform.ts';
import type { JudgeProof } from '../../bot/app/configuration-proof.ts';
import { probeIdentity } from './deployment-identity.ts';
import { requestForCheck } from '../../shared/http/check-request.ts';
import { resultsOf } from './results-of.ts';

export interface PublicUrlCheckOptions {
  publicUrl: string;
  /** Undefined if there is no key to verify the proof. */
  judge?: JudgeProof;
  /** Platforms that deliver to `/webhooks/NAME`. */
  platforms: readonly string[];
  /** Whether users sign in on pages of the bot. Defaults to false. */
  hasSignIn?: boolean;
}

const { ok, warning, fault } = resultsOf('Public address');
const LOOPBACK_HOSTS = ['127.0.0.1', '[::1]', 'localhost'];
/** Status codes of our webhooks for an unsigned request. */
const UNSIGNED_ANSWERS = [400, 401];

/**
 * Calls the bot through PUBLIC_URL as the platforms do. A proxy in between must forward webhooks and pages, but may keep the
 * health endpoint private.
 */
export async function checkPublicUrl({
  publicUrl,
  judge,
  platforms,
  hasSignIn = false,
}: PublicUrlCheckOptions): Promise<CheckResult[]> {
  const { answer, reached } = await probeIdentity(publicUrl, judge ?? (() => 'these settings'));
  if ('code' in answer) {
    // On a loopback address, a refused connection means that Parley is not running. Elsewhere the route is broken.
    const isJustNotRunning = answer.code === 'ECONNREFUSED' && LOOPBACK_HOSTS.includes(new URL(publicUrl).hostname);
    const nextStep = 'Start Parley, then check that PUBLIC_URL leads to its PORT';
    const detail = `nothing answers at ${publicUrl} (${answer.code})`;
    return [(isJustNotRunning ? warning : fault)(detail, nextStep)];
  }
  if (answer.status !== 200) {
    const nextStep = 'Start Parley with the role receiver, and configure the proxy to forward /webhooks to its PORT';
    return [fault(`${publicUrl} answers ${answer.status}`, nextStep)];
  }
  if (reached === 'something else') {
    const detail = `${publicUrl} leads to another program: it does not have this SECRET_KEY`;
    const nextStep = 'Stop the other program (perhaps an older Parley), or correct PUBLIC_URL or the proxy';
    return [fault(detail, nextStep)];
  }
  return [
    reached === 'these settings'
      ? ok(`${publicUrl} leads to Parley with these settings`)
      : warning(
          `${publicUrl} leads to a Parley with this key that was started with other settings`,
          'Restart Parley, and check that all its processes read the same settings',
        ),
    ...(await Promise.all([
      ...platforms.map((platform) => checkWebhook(publicUrl, platform)),
      ...(hasSignIn ? [checkSignInPages(publicUrl)] : []),
    ])),
  ];
}

async function checkWebhook(publicUrl: string, platform: string): Promise<CheckResult> {
  const webhook = resultsOf(`Webhook ${platform}`);
  const address = `${publicUrl}/webhooks/${platform}`;
  const { status } = await requestForCheck(address, { json: {} });
  if (UNSIGNED_ANSWERS.includes(status)) return webhook.ok(`${address} is served and refuses unsigned requests`);
  const nextStep = 'Run the role receiver there, and configure the proxy to forward POST requests unchanged';
  return webhook.fault(`${address} answers ${status === 0 ? 'nothing' : status}`, nextStep);
}

/**
 * Pages redirect other host names to the public one. A proxy that changes the host name therefore causes a redirect loop.
 */
async function checkSignInPages(publicUrl: string): Promise<CheckResult> {
  const pages = resultsOf('Sign-in pages');
  const { status } = await requestForCheck(`${publicUrl}/sign-in/confirm`);
  if (status === 307) {
    const detail = 'redirect browsers in a loop: requests do not arrive with the host name of PUBLIC_URL';
    const nextStep =
      'Configure the proxy to forward the host (Host and X-Forwarded-Host), and set TRUSTED_PROXY_HOPS to the number of proxies';
    return pages.fault(detail, nextStep);
  }
  if (status === 0 || status === 404 || status >= 500) {
    const nextStep = 'Configure the proxy to forward /link, /sign-in, /oauth and /assets';
    return pages.fault(`answer ${status === 0 ? 'nothing' : status}`, nextStep);
  }
  return pages.ok('are served at this address');
}
