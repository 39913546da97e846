import type { CheckResult } from '../../bot/platforms/platform.ts';
import { loadSettings } from '../../bot/config/load-settings.ts';
import { modelsIn, probeModels } from '../../bot/model/probe-chat.ts';
import { redisAddress } from '../../bot/app/secrets.ts';
import { PLATFORM_NAMES } from '../../bot/domain/platform-name.ts';
import { requestForCheck } from '../../shared/http/check-request.ts';
import { createLog } from '../../shared/log.ts';
import { readJsonObject } from '../../shared/sign-in/json-answer.ts';
import { discoveryAddress, isSameIssuer } from '../../shared/sign-in/provider-metadata.ts';
import { checkChat } from '../check/check-chat.ts';
import { checkPlatform } from '../check/check-platform.ts';
import { checkRedis } from '../check/check-redis.ts';
import { checkSignIn, signInToCheck } from '../check/check-sign-in.ts';
import { runOne } from '../check/run-checks.ts';

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

/** Tries the platform's credentials. */
export async function tryPlatform(answers: Answers): Promise<CheckResult[]> {
  const settings = settingsOf({ ...answers, SIGN_IN: 'off', SIGN_IN_URL: undefined, SIGN_IN_PROOF: undefined });
  const name = PLATFORM_NAMES.find((each) => settings?.config.platforms.includes(each));
  if (!settings || !name) return [];
  return runOne({ name, run: () => checkPlatform(name, settings) });
}

/** The models that the engine lists; none if it lists none. */
export async function listModels(answers: Answers): Promise<string[]> {
  const answer = await probeModels(engineOf(answers));
  return 'body' in answer && answer.status === 200 ? (modelsIn(answer.body) ?? []) : [];
}

/** Whether the engine's address answers at all. */
export async function tryEngine(answers: Answers): Promise<CheckResult[]> {
  const answer = await probeModels(engineOf(answers));
  if (!('code' in answer)) return [{ name: 'Chat', verdict: 'ok', detail: `answers at ${answers['CHAT_BASE_URL']}` }];
  const nextStep = 'Check the address and that this machine can reach it';
  return [{ name: 'Chat', verdict: 'fault', detail: `cannot be reached (${answer.code})`, nextStep }];
}

/** Asks the default model for an answer. */
export async function tryModels(answers: Answers): Promise<CheckResult[]> {
  const models = (answers['CHAT_MODELS'] ?? '').split(',').map((name) => name.trim());
  return checkChat({ ...engineOf(answers), models, model: models[0] ?? '' });
}

function engineOf({ CHAT_BASE_URL: baseUrl = '', CHAT_API_KEY: apiKey = '' }: Answers) {
  return { baseUrl: baseUrl.replace(/(?<!\/)\/+$/, ''), apiKey };
}

/** Reads an issuer's discovery document. A CAS server has no clients; OAuth 2.0 is tried once the client is known. */
export async function tryIssuer(answers: Answers): Promise<CheckResult[]> {
  const { SIGN_IN_TYPE: type, SIGN_IN_URL: issuer = '' } = answers;
  if (type === 'cas') return trySignIn(answers);
  if (type !== 'oidc') return [];
  const name = 'Sign-in service';
  const answer = await requestForCheck(discoveryAddress(issuer));
  const named = 'body' in answer && answer.status === 200 ? readJsonObject(answer.body)?.['issuer'] : undefined;
  if (isSameIssuer(issuer, named)) return [{ name, verdict: 'ok', detail: 'is an OpenID Connect provider' }];
  const status = 'code' in answer ? answer.code : answer.status;
  const detail = named === undefined ? `has no discovery document (${status})` : 'names another issuer';
  return [{ name, verdict: 'fault', detail, nextStep: 'Enter the exact issuer of the provider' }];
}

/** Tries the client at the sign-in service. */
export async function trySignIn(answers: Answers): Promise<CheckResult[]> {
  const settings = settingsOf({ ...answers, SIGN_IN_PROOF: 'typed-code' });
  return settings ? checkSignIn(signInToCheck(settings.config, settings.secrets)) : [];
}
