import type { CheckResult } from '../../bot/platforms/platform.ts';
import { loadSettings } from '../../bot/config/load-settings.ts';
import { probeModels } from '../../bot/model/probe-chat.ts';
import { withModelsToday } from '../../bot/app/listed-models.ts';
import { redisAddress } from '../../bot/app/secrets.ts';
import { PLATFORM_NAMES } from '../../bot/domain/platform-name.ts';
import { requestForCheck } from '../../shared/http/check-request.ts';
import { CasClient } from '../../shared/sign-in/cas-client.ts';
import { createLog } from '../../shared/log.ts';
import { readJsonObject } from '../../shared/sign-in/json-answer.ts';
import { discoveryAddress, isSameIssuer } from '../../shared/sign-in/provider-metadata.ts';
import { checkChat, refusedList } from '../check/check-chat.ts';
import { checkPlatform } from '../check/check-platform.ts';
import { checkRedis } from '../check/check-redis.ts';
import { checkSignIn, signInToCheck } from '../check/check-sign-in.ts';
import { runOne } from '../check/run-checks.ts';
import type { Changes } from './settings-file.ts';
import { resultsOf } from '../check/results-of.ts';

const chat = resultsOf('Chat');
const chatModels = resultsOf('Chat models');

/** The answers so far, by setting. */
export type Answers = Readonly<Record<string, string | undefined>>;

/** Stands for the settings that are not answered yet. */
const NOT_YET: Answers = {
  ENV_FILE: '/dev/null',
  CHAT_BASE_URL: 'http://127.0.0.1:9/v1',
  CHAT_API_KEY: 'none',
  REDIS_URL: 'redis://127.0.0.1:9',
  SECRET_KEY: Buffer.alloc(32).toString('base64'),
  MESSENGER_PROTOCOL: 'wecom',
};

/** @returns undefined if the answers cannot be combined yet */
function settingsOf(answers: Answers) {
  const signIn = answers['SIGN_IN_URL'] === undefined ? { SIGN_IN: 'off' } : { SIGN_IN_PROOF: 'typed-code' };
  const settings = loadSettings({ env: { ...NOT_YET, ...signIn, ...answers }, cwd: process.cwd() });
  return settings.ok ? settings : undefined;
}

/** Tries Redis as `npm run check` does. */
export async function tryRedis(answers: Answers): Promise<CheckResult[]> {
  const settings = settingsOf({ REDIS_URL: answers['REDIS_URL'] });
  if (!settings) return [];
  const address = redisAddress(settings.config, settings.secrets);
  return checkRedis({ address, isLossAllowed: false, log: createLog({ level: 'silent', format: 'json' }) });
}

/** Whether a Redis answers at an address. */
export async function isReached(address: string): Promise<boolean> {
  return (await tryRedis({ REDIS_URL: address })).every(({ verdict }) => verdict !== 'fault');
}

/** Tries the platform's credentials. */
export async function tryPlatform(answers: Answers): Promise<CheckResult[]> {
  const settings = settingsOf({ ...answers, SIGN_IN: 'off', SIGN_IN_URL: undefined, SIGN_IN_PROOF: undefined });
  const name = PLATFORM_NAMES.find((each) => settings?.config.platforms.includes(each));
  if (!settings || !name) return [];
  return runOne({ name, run: () => checkPlatform(name, settings) });
}

/** Tries the credentials of the bot alone: what else the platform needs is asked next. */
export async function tryBot(answers: Answers): Promise<CheckResult[]> {
  return (await tryPlatform(answers)).filter(({ verdict }) => verdict !== 'warning');
}

/** The models that people could choose from if none were named; none if the engine lists none. */
export async function listModels(answers: Answers): Promise<string[]> {
  const settings = settingsOf({ ...answers, CHAT_MODELS: undefined });
  if (!settings) return [];
  const { chat } = await withModelsToday(settings.config, settings.secrets);
  return chat.modelsFrom === 'settings' ? [...chat.models] : [];
}

/** Whether the engine's address answers at all. */
export async function tryEngine(answers: Answers): Promise<CheckResult[]> {
  const answer = await probeModels(engineOf(answers));
  if (!('code' in answer)) return [chat.ok(`answers at ${answers['CHAT_BASE_URL']}`)];
  return [chat.fault(`cannot be reached (${answer.code})`, 'Check the address and that this machine can reach it')];
}

/** Whether the engine refuses to list its models, usually because of the key. Named models are tried themselves. */
export async function tryKey(answers: Answers): Promise<CheckResult[]> {
  const refused = answers['CHAT_MODELS'] === undefined ? await refusedList(engineOf(answers)) : undefined;
  return refused ? [chatModels.fault(...refused)] : [];
}

/** Asks the default model for an answer. */
export async function tryModels(answers: Answers): Promise<CheckResult[]> {
  const named = (answers['CHAT_MODELS'] ?? '').split(',').map((name) => name.trim());
  const models = answers['CHAT_MODELS'] === undefined ? await listModels(answers) : named;
  const [model] = models;
  if (model !== undefined) return checkChat({ ...engineOf(answers), models, model });
  const refused = await tryKey(answers);
  if (refused.length > 0) return refused;
  const nextStep = 'Correct the address or the key, or enter the names of the models';
  return [chatModels.fault('the service lists no chat models', nextStep)];
}

function engineOf({ CHAT_BASE_URL: baseUrl = '', CHAT_API_KEY: apiKey = '' }: Answers) {
  return { baseUrl: baseUrl.replace(/(?<!\/)\/+$/, ''), apiKey };
}

const signIn = resultsOf('Sign-in service');
/** Providers that issue refresh tokens only for `offline_access`. */
const NEEDS_OFFLINE_ACCESS = /(?:^|\.)(?:microsoftonline\.com|microsoftonline\.cn|okta\.com|oktapreview\.com)$/;

/** Recognises the protocol of a sign-in service by its addresses, and the scope that it needs. */
export async function findSignIn(answers: Answers): Promise<Changes> {
  const { SIGN_IN_URL: url } = answers;
  if (url === undefined) return {};
  const mode = answers['SIGN_IN'] === 'off' ? 'required' : answers['SIGN_IN'];
  const type = await typeOf(url);
  const needsScope = type === 'oidc' && NEEDS_OFFLINE_ACCESS.test(new URL(url).hostname);
  const scope = needsScope ? 'openid profile offline_access' : answers['SIGN_IN_SCOPE'];
  return { SIGN_IN: mode, SIGN_IN_TYPE: type, SIGN_IN_SCOPE: scope };
}

async function typeOf(url: string): Promise<string | undefined> {
  const discovery = await requestForCheck(discoveryAddress(url));
  if ('code' in discovery) return undefined;
  if (discovery.status === 200 && readJsonObject(discovery.body) !== undefined) return 'oidc';
  const base = url.replace(/(?<!\/)\/+$/, '');
  if (await new CasClient(base).findValidation(`${base}/`).catch(() => undefined)) return 'cas';
  const authorize = await requestForCheck(`${base}/oauth2.0/authorize`);
  return 'body' in authorize && authorize.status < 500 && authorize.status !== 404 ? 'oauth2' : undefined;
}

/** Whether the sign-in service is one of its protocol. A CAS server has no clients, so that it is tried completely. */
export async function tryIssuer(answers: Answers): Promise<CheckResult[]> {
  const { SIGN_IN_TYPE: type, SIGN_IN_URL: url } = answers;
  if (url === undefined) return [];
  if (type === 'cas') return trySignIn(answers);
  const inOrder = (detail: string) => [signIn.ok(detail, howToRegister(answers))];
  if (type === 'oauth2') return inOrder('uses OAuth 2.0');
  const answer = await requestForCheck(discoveryAddress(url));
  const named = 'body' in answer && answer.status === 200 ? readJsonObject(answer.body)?.['issuer'] : undefined;
  if (isSameIssuer(url, named)) return inOrder('is an OpenID Connect provider');
  const isAway = 'code' in answer;
  if (type === undefined && !isAway) return [];
  const detail = isAway
    ? `cannot be reached (${answer.code})`
    : typeof named === 'string'
      ? `its issuer is ${named}`
      : `has no discovery document (${answer.status})`;
  const nextStep = isAway ? 'Check the address and that this machine can reach it' : 'Enter the exact issuer';
  return [signIn.fault(detail, nextStep)];
}

/** The address that the sign-in service asks for before it issues the client id, which is the next question. */
function howToRegister(answers: Answers): string | undefined {
  const publicUrl = settingsOf({ ...answers, SIGN_IN: 'off', SIGN_IN_URL: undefined })?.config.http.publicUrl;
  return publicUrl && `Register Parley there with the redirect address ${publicUrl}/oauth/callback`;
}

/** Ways to send the client secret, besides the one that the provider lists. */
const CLIENT_AUTH = ['client_secret_post', 'client_secret_basic_raw'];

/** Finds how an OpenID Connect provider accepts the client, if not in the usual way. */
export async function findClientAuth(answers: Answers): Promise<Changes> {
  if (answers['SIGN_IN_TYPE'] !== 'oidc') return {};
  for (const auth of [undefined, ...CLIENT_AUTH]) {
    const changes = { SIGN_IN_CLIENT_AUTH: auth };
    const results = await trySignIn({ ...answers, ...changes });
    if (results.every(({ verdict }) => verdict !== 'fault')) return changes;
  }
  return {};
}

/** Tries the client at the sign-in service. */
export async function trySignIn(answers: Answers): Promise<CheckResult[]> {
  const settings = settingsOf({ ...answers, SIGN_IN_PROOF: 'typed-code' });
  return settings ? checkSignIn(signInToCheck(settings.config, settings.secrets)) : [];
}
