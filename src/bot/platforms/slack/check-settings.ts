import { abortAfter } from '../../../shared/abort-after.ts';
import { SECOND_MS } from '../../../shared/clock.ts';
import { randomToken } from '../../../shared/crypto/ids.ts';
import { boundedFetch } from '../../../shared/sign-in/bounded-fetch.ts';
import type { CheckResult } from '../platform.ts';
import type { Installations } from './installations.ts';
import { errorOf, openIdAddresses, type SlackAddresses, type SlackClient } from './open-id.ts';
import { compareScopes, type AppMethod } from './app-rights.ts';
import type { SlackResponse, SlackApi } from './platform-api.ts';
import { textOf } from './post-answer.ts';

/**
 * Checks the owner and the scopes of the bot token. @param moreTeams the further workspaces, which must not include the
 * token's own workspace
 */
export async function checkBot(api: SlackApi, moreTeams: readonly string[]): Promise<CheckResult[]> {
  const name = 'Slack bot';
  const answer = await api.call('auth.test', {});
  if (answer.kind !== 'ok')
    return [
      faultOf(name, answer, {
        refusal: 'Slack refuses the bot token',
        nextStep: "Copy the Bot User OAuth Token from the app's OAuth & Permissions page into SLACK_BOT_TOKEN",
      }),
    ];
  const team = textOf(answer.body['team_id']) ?? '';
  const twice: CheckResult = {
    name,
    verdict: 'warning',
    detail: `SLACK_MORE_WORKSPACES names ${team}, which is the workspace of SLACK_BOT_TOKEN itself`,
    nextStep: `Remove ${team} from SLACK_MORE_WORKSPACES: its messages would wait for an installation that it does not need`,
  };
  return [...judgeBot(name, answer), ...(moreTeams.includes(team) ? [twice] : [])];
}

function judgeBot(name: string, { body, grantedScopes }: Extract<SlackResponse, { kind: 'ok' }>): CheckResult[] {
  const detail = `${textOf(body['user']) ?? 'the bot'} in ${textOf(body['team']) ?? 'its workspace'}`;
  return [{ name, verdict: 'ok', detail }, ...(grantedScopes === undefined ? [] : [judgeScopes(grantedScopes)])];
}

function judgeScopes(granted: string): CheckResult {
  const name = 'Slack scopes';
  const { missing, wanting, unused } = compareScopes(granted);
  const lacking = [...missing, ...wanting];
  if (lacking.length + unused.length === 0)
    return { name, verdict: 'ok', detail: 'all required scopes are granted, and no others' };
  const parts = [
    ...(lacking.length > 0 ? [`missing: ${lacking.join(', ')}`] : []),
    ...(unused.length > 0 ? [`granted but never used: ${unused.join(', ').slice(0, MAX_NAMED_CHARS)}`] : []),
  ];
  const nextStep =
    "Run npm run slack:manifest, paste config/slack-manifest.yaml into the app's App Manifest page, and reinstall the app";
  return { name, verdict: missing.length > 0 ? 'fault' : 'warning', detail: parts.join('; '), nextStep };
}

interface WorkspaceChecked {
  team: string;
  api: SlackApi;
  installations: Installations;
  /** On the bot's own host, where the installation also starts. */
  redirectUri: string;
}

/** Checks the app's installation in a further workspace. */
export async function checkWorkspace(checked: WorkspaceChecked): Promise<CheckResult[]> {
  const { team, api, installations, redirectUri } = checked;
  const name = `Slack ${team}`;
  if (!(await installations.untilRead(TIMEOUT_MS)))
    return [{ name, verdict: 'fault', detail: 'Redis did not return whether the app is installed there' }];
  const answer = await api.call('auth.test', {});
  if (answer.kind === 'unauthorised') {
    const nextStep = `Ask an administrator of that workspace to open ${new URL('/install/slack', redirectUri).href}`;
    return [{ name, verdict: 'warning', detail: `the app is not installed there (${answer.error})`, nextStep }];
  }
  if (answer.kind !== 'ok')
    return [faultOf(name, answer, { refusal: 'Slack refuses its token', nextStep: 'Try again' })];
  return judgeBot(name, answer);
}

/** Requests a socket address. Harmless without a connection: Slack closes no other socket. */
export async function checkSocket(api: SlackApi<AppMethod>): Promise<CheckResult> {
  const name = 'Slack socket';
  const answer = await api.call('apps.connections.open', {});
  if (answer.kind === 'ok')
    return { name, verdict: 'ok', detail: 'Slack accepts the connection; no public address is needed for it' };
  return faultOf(name, answer, {
    refusal: 'Slack refuses the app-level token',
    nextStep:
      "Enable Socket Mode in the app's settings, and copy an app-level token with connections:write (Basic Information) into SLACK_APP_TOKEN",
  });
}

function faultOf(
  name: string,
  answer: SlackResponse,
  { refusal, nextStep }: { refusal: string; nextStep: string },
): CheckResult {
  const error = 'error' in answer ? answer.error : undefined;
  return {
    name,
    verdict: 'fault',
    detail: error === undefined ? 'Slack did not answer' : `${refusal} (${error.slice(0, 64)})`,
    nextStep: error === undefined ? 'Check that this machine reaches SLACK_API_URL' : nextStep,
  };
}

interface WebSignInChecked {
  client: SlackClient;
  addresses: SlackAddresses;
  redirectUri: string;
}

/** Maximum characters of Slack's scopes that are repeated. */
const MAX_NAMED_CHARS = 300;
const BAD_CLIENT = /^(?:invalid_client_id|bad_client_secret|invalid_client)$/;
const BAD_CODE = /^(?:invalid_code|invalid_grant)$/;
const TIMEOUT_MS = 5 * SECOND_MS;

/**
 * Redeems a random code: Slack must refuse the code, not the client. Also checks that the keys for id tokens can be read.
 */
export async function checkWebSignIn({ client, addresses, redirectUri }: WebSignInChecked): Promise<CheckResult> {
  const name = 'Slack sign-in';
  const { token_endpoint: tokenUrl, jwks_uri: keysUrl } = openIdAddresses(addresses);
  const fault = (detail: string, nextStep: string): CheckResult => ({ name, verdict: 'fault', detail, nextStep });
  const form = new URLSearchParams({
    client_id: client.clientId,
    client_secret: client.clientSecret,
    code: randomToken(16),
    grant_type: 'authorization_code',
    redirect_uri: redirectUri,
  });
  const answer = await ask(tokenUrl, { method: 'POST', body: form });
  const error = answer && (errorOf(answer) ?? 'an unexpected answer');
  if (error === undefined) return fault('Slack did not answer', 'Check that this machine reaches SLACK_API_URL');
  if (BAD_CLIENT.test(error)) {
    const next =
      "Copy Client ID and Client Secret from the app's Basic Information page into SLACK_CLIENT_ID and SLACK_CLIENT_SECRET";
    return fault(`Slack refuses the client (${error})`, next);
  }
  if (!BAD_CODE.test(error)) return fault(`Slack refuses the sign-in (${error.slice(0, 64)})`, 'Check SLACK_API_URL');
  const keys = await ask(keysUrl, {});
  if (!keys?.includes('"keys"'))
    return fault('Slack’s keys for id tokens cannot be read', 'Check that this machine reaches SLACK_OPEN_URL');
  const detail = `client id and secret are accepted; the app's OAuth & Permissions page must list the redirect URL ${redirectUri} and the user scope openid`;
  return { name, verdict: 'ok', detail };
}

async function ask(url: string, options: RequestInit): Promise<string | undefined> {
  try {
    const answer = await boundedFetch(url, { ...options, signal: abortAfter(TIMEOUT_MS) });
    return await answer.text();
  } catch {
    return undefined;
  }
}
