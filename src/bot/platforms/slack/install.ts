import { abortAfter } from '../../../shared/abort-after.ts';
import { randomToken, sameSecret, sha256Hex } from '../../../shared/crypto/ids.ts';
import { SECOND_MS } from '../../../shared/clock.ts';
import { boundedFetch } from '../../../shared/sign-in/bounded-fetch.ts';
import type { InstallOutcome, InstallPages } from '../platform.ts';
import { botScopes, methodUrl } from './app-rights.ts';
import type { Installations } from './installations.ts';
import type { SlackAddresses, SlackClient } from './open-id.ts';
import { textOf } from './post-answer.ts';
import { fieldsOf, parseJson } from '../../../shared/parse-json.ts';

interface InstallParts {
  client: SlackClient;
  addresses: SlackAddresses;
  /** Address to which Slack redirects the administrator. */
  redirectUri: string;
  installations: Installations;
}

const TIMEOUT_MS = 10 * SECOND_MS;

/**
 * Lets an administrator add the app to a further workspace by Slack's OAuth (PLATFORM_FACTS.md slack-installation). Only
 * workspaces named in the settings are accepted. `state` is a hash of the browser's cookie, so that a return is accepted
 * only from the same browser and only once.
 */
export function createInstall({ client, addresses, redirectUri, installations }: InstallParts): InstallPages {
  return {
    begin() {
      const cookie = randomToken();
      const query = new URLSearchParams({
        client_id: client.clientId,
        scope: botScopes(false).join(','),
        state: sha256Hex(cookie),
        redirect_uri: redirectUri,
      });
      return { cookie, location: `${addresses.openUrl}/oauth/v2/authorize?${query.toString()}` };
    },
    async finish(query, cookie) {
      const { state, code } = onlyTexts(query);
      if (state === undefined || cookie === undefined || !sameSecret(state, sha256Hex(cookie))) return 'not-begun-here';
      if (!(await installations.isFirstReturn(state))) return 'not-begun-here';
      if (code === undefined) return 'declined';
      const form = new URLSearchParams({
        client_id: client.clientId,
        client_secret: client.clientSecret,
        code,
        redirect_uri: redirectUri,
      });
      return keep(await redeem(methodUrl(addresses.apiUrl, 'oauth.v2.access'), form), installations);
    },
  };
}

function onlyTexts(query: URLSearchParams): { state?: string; code?: string } {
  const only = (name: string) => (query.getAll(name).length === 1 ? textOf(query.get(name)) : undefined);
  return { state: only('state'), code: only('code') };
}

async function redeem(url: string, form: URLSearchParams): Promise<Readonly<Record<string, unknown>> | undefined> {
  try {
    const answer = await boundedFetch(url, { method: 'POST', body: form, signal: abortAfter(TIMEOUT_MS) });
    return fieldsOf(parseJson(await answer.text()));
  } catch {
    return undefined;
  }
}

async function keep(
  answer: Readonly<Record<string, unknown>> | undefined,
  installations: Installations,
): Promise<InstallOutcome> {
  if (answer?.['ok'] !== true) return 'refused';
  const team = textOf(fieldsOf(answer['team'])['id']);
  const [token, appId, botUserId] = ['access_token', 'app_id', 'bot_user_id'].map((name) => textOf(answer[name]));
  const isWhole = token !== undefined && appId !== undefined && botUserId !== undefined;
  if (team === undefined || !isWhole || answer['token_type'] !== 'bot' || !token.startsWith('xoxb-')) return 'refused';
  if (!installations.teams.includes(team) || answer['is_enterprise_install'] === true) return 'not-invited';
  await installations.keep(team, { token, appId, botUserId });
  return 'installed';
}
