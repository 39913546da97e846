import { lookup } from 'node:dns/promises';
import { modelsIn } from '../../bot/model/probe-chat.ts';
import { isRefusedByRedis } from '../check/check-redis.ts';
import { checkSignIn, signInToCheck } from '../check/check-sign-in.ts';
import { hintOnPolicy } from '../check/config-files.ts';
import { requestForCheck } from '../../shared/http/check-request.ts';
import { withTimeout } from '../../shared/with-timeout.ts';
import { SECOND_MS } from '../../shared/clock.ts';
import { definedOnly } from '../../shared/defined-only.ts';
import { inBackground } from '../../shared/in-background.ts';
import { createLog } from '../../shared/log.ts';
import { connectRedis, type RedisAddress } from '../../shared/redis/redis.ts';
import type { CheckResult } from '../../bot/platforms/platform.ts';
import { redisAddress } from '../../bot/app/secrets.ts';
import { withModelsToday } from '../../bot/app/listed-models.ts';
import { readCatalog, readChatCatalog } from '../../bot/app/models.ts';
import type { EngineHeaders } from '../../shared/models/engine-headers.ts';
import { commonHeaders } from '../../shared/models/model-catalog.ts';
import { findMissingDependencies } from '../../bot/app/missing-dependencies.ts';
import { describePlatform } from '../../bot/platforms/registry.ts';
import { hasVersion } from '../../bot/config/setting-kinds.ts';
import type { Config, Secrets } from '../../bot/config/config.ts';

/** Checks a dependency that a start does not wait for. */
export interface StartProbe {
  /** Message once it works again. */
  works: string;
  /** Describes the problem, or returns undefined. Never rejects. */
  find(): Promise<string | undefined>;
}

interface ProbeDeps {
  config: Config;
  secrets: Secrets;
}

const PROBE_LIMIT_MS = 3 * SECOND_MS;
/** Longer lists of models are cut. */
const MAX_NAMED = 5;
const PROBE_AGAIN_MS = 5 * SECOND_MS;

/**
 * The external dependencies of this process, and hints: sentences on what works but might be improved. Embedded parts are not
 * probed.
 */
export async function probesAtStart(parts: ProbeDeps): Promise<{ probes: StartProbe[]; hints: string[] }> {
  const { secrets } = parts;
  const config = parts.config.roles.includes('worker') ? await withModelsToday(parts.config, secrets) : parts.config;
  const { roles, embedded, signIn, http } = config;
  const has = (role: Config['roles'][number]) => roles.includes(role);
  const hasBot = has('receiver') || has('worker');
  const isServing = config.mode === 'serving';
  const asksChat = has('worker') && !embedded.chat;
  const probes = [
    ...(embedded.redis ? [] : [redisProbe(redisAddress(config, secrets))]),
    ...(isServing && has('service') ? await serviceLooks(config, secrets) : []),
    ...(asksChat ? [chatProbe(asEngineKnows(config, parts.config.chat, secrets), secrets.chatApiKey)] : []),
    ...(hasBot && !embedded.signIn && signIn.mode !== 'off' ? [signInProbe(signInToCheck(config, secrets))] : []),
    ...(isServing && hasBot ? [publicUrlProbe(http.publicUrl), ...(await platformProbes(parts))] : []),
  ];
  const hints = [...(asksChat ? hintOnUnlisted(config) : []), ...[hintOnPolicy(config) ?? []].flat()];
  return { probes, hints };
}

/** Probes everything once, then repeats the failed probes until all succeed. */
export function watchProbes(
  probes: readonly StartProbe[],
  { onEnded, againMs = PROBE_AGAIN_MS }: { onEnded(sentence: string): void; againMs?: number },
): { first: Promise<string[]>; end(): void } {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const probeAgain = (troubled: readonly StartProbe[]) => {
    if (isOver || troubled.length === 0) return;
    timer = setTimeout(() => inBackground(async () => probeAgain(await stillTroubled(troubled))), againMs).unref();
  };
  const stillTroubled = async (troubled: readonly StartProbe[]): Promise<StartProbe[]> => {
    const found = await Promise.all(troubled.map(({ find }) => find()));
    for (const [index, { works }] of troubled.entries()) if (found[index] === undefined) onEnded(works);
    return troubled.filter((_probe, index) => found[index] !== undefined);
  };
  const first = async () => {
    const found = await Promise.all(probes.map(({ find }) => find()));
    probeAgain(probes.filter((_probe, index) => found[index] !== undefined));
    return found.filter((sentence) => sentence !== undefined);
  };
  return {
    first: first(),
    end() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}

/** Uses a separate connection, so that the cause of a failure is known and nothing queues behind it. */
export function redisProbe(address: RedisAddress): StartProbe {
  const find = async () => {
    const redis = connectRedis(address, 'wait', createLog({ level: 'silent', format: 'json' }), 'start');
    let reason = '';
    redis.on('error', (error: Error) => (reason = error.message));
    try {
      await withTimeout(redis.ping(), PROBE_LIMIT_MS);
      return undefined;
    } catch (error) {
      const told = `${reason} ${error instanceof Error ? error.message : ''}`;
      return isRefusedByRedis(told)
        ? 'Redis refuses the user or the password in REDIS_URL: no message can be accepted or answered. Parley keeps trying.'
        : `Redis does not answer at ${placesOf(address)}: no message can be accepted or answered. Start Redis or correct REDIS_URL; Parley keeps trying.`;
    } finally {
      redis.disconnect();
    }
  };
  return { works: 'Redis answers.', find };
}

/** Without credentials. */
function placesOf({ urls }: RedisAddress): string {
  return urls
    .map((address) => new URL(address))
    .map(({ host, pathname }) => (host === '' ? pathname : host))
    .join(', ');
}

type ProbedChat = Pick<Config['chat'], 'baseUrl' | 'model'> & { named?: string[]; headers?: EngineHeaders };

/** Requests only the model list, so that a start causes no model cost. */
export function chatProbe(
  { baseUrl, model, named = ['CHAT_MODELS'], headers: more = {} }: ProbedChat,
  apiKey: string | undefined,
): StartProbe {
  const find = async () => {
    const headers = definedOnly({ ...more, authorization: apiKey === undefined ? undefined : `Bearer ${apiKey}` });
    const answer = await requestForCheck(`${baseUrl}/models`, { headers, timeoutMs: PROBE_LIMIT_MS });
    if ('code' in answer)
      return `The chat service does not answer at ${baseUrl} (${answer.code}): no question can be answered. Start the service or correct CHAT_BASE_URL; Parley calls it again for each question.`;
    if (answer.status === 401 || answer.status === 403)
      return `The chat service refuses CHAT_API_KEY (${answer.status}): no question can be answered. Set CHAT_API_KEY to a valid key.`;
    if (answer.status >= 500)
      return `The chat service returns ${answer.status}: contact its operator. Parley calls it again for each question.`;
    // Some services have no model list. A 404 is a problem only if the address also looks wrong.
    if (answer.status === 404 && !hasVersion(baseUrl))
      return `${baseUrl}/models does not exist (404), so questions probably cannot be answered. Check that CHAT_BASE_URL ends in /v1.`;
    const listed = answer.status === 200 ? modelsIn(answer.body) : undefined;
    if (listed !== undefined && listed.length > 0 && !listed.includes(model))
      return `The chat service does not list the model ${model}, so it probably cannot answer. Choose ${named.join(' and ')} from: ${listed.slice(0, 10).join(', ')}.`;
    return undefined;
  };
  return { works: 'The chat service answers.', find };
}

/** The default model, under the engine's name for it, and the settings that name it. */
function asEngineKnows(config: Config, { modelsFrom, isModelNamed }: Config['chat'], secrets: Secrets): ProbedChat {
  const { baseUrl, model } = config.chat;
  const named = [...(modelsFrom === 'settings' ? ['CHAT_MODELS'] : []), ...(isModelNamed ? ['CHAT_MODEL'] : [])];
  const catalog = readChatCatalog(config, secrets);
  return { baseUrl, model: catalog.of(model).upstream, named, headers: commonHeaders(catalog) };
}

/** Models that the models file does not list. */
function hintOnUnlisted({ chat, ...config }: Config): string[] {
  // The names are only assumed as long as the service has not listed its models.
  if (chat.modelsFrom !== 'settings') return [];
  const catalog = readCatalog(config);
  const unlisted = chat.models.filter((name) => !catalog.lists(name));
  if (unlisted.length === 0) return [];
  const rest = unlisted.length - MAX_NAMED;
  const named = unlisted.slice(0, MAX_NAMED).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
  const [are, they] = unlisted.length === 1 ? ['is', 'it'] : ['are', 'they'];
  return [
    `${named} ${are} not in MODELS_FILE, so ${they} can use text and tools, but no images or thinking. Run npm run check for suggested entries.`,
  ];
}

/** Some services refuse clients that are not browsers, so a refusal does not prove that users are refused. */
export function signInProbe(options: Parameters<typeof checkSignIn>[0]): StartProbe {
  const find = async () => {
    const results = await withTimeout(checkSignIn(options), PROBE_LIMIT_MS).catch(() => []);
    const fault = sentenceOf(results);
    const warning = sentenceOf(results, 'warning');
    return fault ? `No one can sign in. ${fault}` : warning && `Sign-in may not work. ${warning}`;
  };
  return { works: 'The sign-in service answers.', find };
}

/**
 * Whether the host name in `PUBLIC_URL` resolves. Whether it leads here is tested by `npm run check`, because machines
 * behind a firewall often cannot reach their own public address. An unavailable DNS proves nothing.
 */
export function publicUrlProbe(publicUrl: string): StartProbe {
  const { hostname } = new URL(publicUrl);
  const find = async () => {
    try {
      await withTimeout(lookup(hostname.replace(/^\[|\]$/g, '')), PROBE_LIMIT_MS);
      return undefined;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOTFOUND') return undefined;
      return `${hostname} does not resolve on this machine, but the chat app and browsers use PUBLIC_URL. Correct PUBLIC_URL, or add the name to the DNS.`;
    }
  };
  return { works: 'The host name in PUBLIC_URL resolves.', find };
}

/** Reported once per start: missing configuration of a service for real users. */
async function serviceLooks(config: Config, secrets: Secrets): Promise<StartProbe[]> {
  const lacks = await findMissingDependencies(config, secrets);
  return lacks.map(({ sentence }) => ({ works: '', find: async () => sentence }));
}

async function platformProbes(parts: ProbeDeps): Promise<StartProbe[]> {
  const { checkPlatform } = await import('../check/check-platform.ts');
  return parts.config.platforms.map((name) => ({
    works: `${describePlatform(name).label.en} accepts our calls.`,
    async find() {
      const results = await withTimeout(checkPlatform(name, parts, true), PROBE_LIMIT_MS).catch(() => []);
      return sentenceOf(results);
    },
  }));
}

/** The first line with that verdict. */
function sentenceOf(results: readonly CheckResult[], verdict: CheckResult['verdict'] = 'fault'): string | undefined {
  const fault = results.find((result) => result.verdict === verdict);
  return (
    fault &&
    [`${fault.name}: ${fault.detail}`, ...(fault.nextStep === undefined ? [] : [fault.nextStep])].join('. ') + '.'
  );
}
