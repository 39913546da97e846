import type { CheckResult } from '../../bot/platforms/platform.ts';
import type { JudgeProof } from '../../bot/app/configuration-proof.ts';
import { askWhoseFromOutside } from './deployment-identity.ts';
import { requestForCheck } from '../../shared/http/check-request.ts';

export interface PublicUrlCheckOptions {
  publicUrl: string;
  /** Undefined where there is no key to judge by. */
  judge?: JudgeProof;
  /** The platforms that send to `/webhooks/NAME`. */
  platforms: readonly string[];
  /** Whether people sign in on pages of the bot; false unless told. */
  hasSignIn?: boolean;
}

const NAME = 'Public address';
const LOOPBACK_HOSTS = ['127.0.0.1', '[::1]', 'localhost'];
/** What a webhook of ours says to a call without a signature. */
const UNSIGNED_ANSWERS = [400, 401];

/** Calls the bot as the platforms do, through PUBLIC_URL: a proxy in between must pass the webhooks and the pages on, and may keep health to itself. */
export async function checkPublicUrl({
  publicUrl,
  judge,
  platforms,
  hasSignIn = false,
}: PublicUrlCheckOptions): Promise<CheckResult[]> {
  const { answer, reached } = await askWhoseFromOutside(publicUrl, judge ?? (() => 'these settings'));
  if ('code' in answer) {
    // On this machine nothing but an unstarted Parley refuses; elsewhere the way to it is broken.
    const isJustNotRunning = answer.code === 'ECONNREFUSED' && LOOPBACK_HOSTS.includes(new URL(publicUrl).hostname);
    const nextStep = 'Start Parley, then see that PUBLIC_URL leads to its PORT';
    const detail = `nothing answers at ${publicUrl} (${answer.code})`;
    return [{ name: NAME, verdict: isJustNotRunning ? 'warning' : 'fault', detail, nextStep }];
  }
  if (answer.status !== 200) {
    const nextStep = 'Start Parley (the receiver role), and let the proxy pass /webhooks on to its PORT';
    return [{ name: NAME, verdict: 'fault', detail: `${publicUrl} answers ${answer.status}`, nextStep }];
  }
  if (reached === 'something else') {
    const detail = `${publicUrl} leads to something else: what answers there does not have this SECRET_KEY`;
    const nextStep = 'Stop the other one (an older Parley perhaps), or let PUBLIC_URL lead to this one';
    return [{ name: NAME, verdict: 'fault', detail, nextStep }];
  }
  return [
    reached === 'these settings'
      ? { name: NAME, verdict: 'ok', detail: `${publicUrl} leads to Parley with these settings` }
      : {
          name: NAME,
          verdict: 'warning',
          detail: `${publicUrl} leads to Parley with this key, but started with other settings`,
          nextStep: 'Start it again, and see that all its processes read the same settings',
        },
    ...(await Promise.all([
      ...platforms.map((platform) => checkWebhook(publicUrl, platform)),
      ...(hasSignIn ? [checkSignInPages(publicUrl)] : []),
    ])),
  ];
}

async function checkWebhook(publicUrl: string, platform: string): Promise<CheckResult> {
  const name = `Webhook ${platform}`;
  const address = `${publicUrl}/webhooks/${platform}`;
  const { status } = await requestForCheck(address, { json: {} });
  if (UNSIGNED_ANSWERS.includes(status))
    return { name, verdict: 'ok', detail: `${address} is served and refuses what is not signed` };
  const nextStep = 'Run the receiver role there, and let the proxy pass POST requests on unchanged';
  return { name, verdict: 'fault', detail: `${address} answers ${status === 0 ? 'nothing' : status}`, nextStep };
}

/** Whoever opens a page under another host name is sent to the public one: behind a proxy that changes it, for ever. */
async function checkSignInPages(publicUrl: string): Promise<CheckResult> {
  const name = 'Sign-in pages';
  const { status } = await requestForCheck(`${publicUrl}/sign-in/confirm`);
  if (status === 307) {
    const detail = 'lead browsers in a circle: requests do not arrive under the host name of PUBLIC_URL';
    const nextStep =
      'Let the proxy pass the host on (Host and X-Forwarded-Host), and set TRUSTED_PROXY_HOPS to the number of proxies';
    return { name, verdict: 'fault', detail, nextStep };
  }
  if (status === 0 || status === 404 || status >= 500) {
    const nextStep = 'Let the proxy pass on /link, /sign-in, /oauth and /assets';
    return { name, verdict: 'fault', detail: `answer ${status === 0 ? 'nothing' : status}`, nextStep };
  }
  return { name, verdict: 'ok', detail: 'are served under this address' };
}
