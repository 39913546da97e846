import { randomToken } from '../../../shared/crypto/ids.ts';
import { PlatformError } from '../platform-error.ts';
import type { CheckResult } from '../platform.ts';
import type { WecomAgent, WecomApi } from './platform-api.ts';
import { CODE_INVALID } from './web-sign-in.ts';

const NAME = 'WeCom app';

/** Next steps for faults that are common during the first setup. */
const NEXT_STEPS: Readonly<Record<number, string>> = {
  40_001: 'Copy the secret of the self-built app into WECOM_AGENT_SECRET again',
  40_013: 'Set WECOM_CORP_ID to the company id shown under "My Company"',
  40_056: 'Set WECOM_AGENT_ID to the AgentId of the self-built app',
  48_002: 'Enable web sign-in for the self-built app',
  50_001: 'Set the host of PUBLIC_URL as the trusted domain of the self-built app',
  60_011: 'Add the people who will sign in to the self-built app’s visible range',
  60_020: 'Add this machine’s outgoing address to the self-built app’s trusted IP list',
};

/** Results of `npm run check` for WeCom. Only WeCom's verification of the callback address can check the callback's keys. */
export async function checkWecom({ agent, api, bot }: WecomChecked): Promise<CheckResult[]> {
  const tried = async () => (bot === 'callback' ? CALLBACK : bot?.());
  const lines = await Promise.all([tried(), agent ? checkAgent(api) : Promise.resolve(NO_AGENT)]);
  return lines.filter((line) => line !== undefined);
}

interface WecomChecked {
  agent: WecomAgent | undefined;
  api: WecomApi;
  /** Checks the bot's connection; undefined to skip it. */
  bot: 'callback' | (() => Promise<CheckResult>) | undefined;
}

const CALLBACK: CheckResult = {
  name: 'WeCom bot',
  verdict: 'ok',
  detail:
    'token and EncodingAESKey have a valid format; to verify them, save the address /webhooks/wecom in WeCom’s console',
};

const NO_AGENT: CheckResult = {
  name: NAME,
  verdict: 'warning',
  detail: 'not configured: no same-browser sign-in or private notices, and encrypted sender ids cannot be converted',
  nextStep: 'Set WECOM_CORP_ID, WECOM_AGENT_ID and WECOM_AGENT_SECRET of a self-built app',
};

/**
 * Attempts a sign-in with a random code, which must be refused because of the code. A successful token request does not
 * reveal a missing trusted IP.
 */
async function checkAgent(api: WecomApi): Promise<CheckResult> {
  try {
    const query = { code: randomToken(16) };
    const { errcode } = await api.call({ method: 'GET', path: '/cgi-bin/auth/getuserinfo', query });
    if (errcode === CODE_INVALID)
      return { name: NAME, verdict: 'ok', detail: 'access token issued, web sign-in works' };
    return fault('the web sign-in', errcode);
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    if (error.platformCode !== undefined) return fault('the access token', error.platformCode);
    return {
      name: NAME,
      verdict: 'fault',
      detail: `no usable answer: ${error.message}`,
      nextStep: 'Check that this machine can reach WECOM_API_URL',
    };
  }
}

function fault(what: string, errcode: number): CheckResult {
  const nextStep = NEXT_STEPS[errcode] ?? `Look up error ${errcode} in WeCom’s list of error codes`;
  return { name: NAME, verdict: 'fault', detail: `WeCom refuses ${what} (errcode ${errcode})`, nextStep };
}
