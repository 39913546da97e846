import { lookup } from 'node:dns/promises';
import { modelsIn } from '../../bot/model/probe-chat.ts';
import { isRefusedByRedis } from '../check/check-redis.ts';
import { checkSignIn, signInToCheck } from '../check/check-sign-in.ts';
import { requestForCheck } from '../../shared/http/check-request.ts';
import { withTimeout } from '../../shared/with-timeout.ts';
import { SECOND_MS } from '../../shared/clock.ts';
import { definedOnly } from '../../shared/defined-only.ts';
import { inBackground } from '../../shared/in-background.ts';
import { createLog } from '../../shared/log.ts';
import { connectRedis, type RedisAddress } from '../../shared/redis/redis.ts';
import type { CheckResult } from '../../bot/platforms/platform.ts';
import { redisAddress } from '../../bot/app/secrets.ts';
import { readCatalog } from '../../bot/app/models.ts';
import { lacksOfService } from '../../bot/app/missing-dependencies.ts';
import { describePlatform } from '../../bot/platforms/registry.ts';
import { hasVersion } from '../../bot/config/setting-kinds.ts';
import type { Config, Secrets } from '../../bot/config/config.ts';

/** Looks whether one thing works that a start does not wait for. */
export interface StartProbe {
  /** Said once it works again. */
  works: string;
  /** A sentence on what does not work, or undefined. Never rejects. */
  find(): Promise<string | undefined>;
}

interface ProbeDeps {
  config: Config;
  secrets: Secrets;
}

const PROBE_LIMIT_MS = 3 * SECOND_MS;
const PROBE_AGAIN_MS = 5 * SECOND_MS;

/** What this process needs from others: everything but what it brought itself. */
export async function probesAtStart(parts: ProbeDeps): Promise<StartProbe[]> {
  const { config, secrets } = parts;
  const { roles, embedded, signIn, http } = config;
  const has = (role: Config['roles'][number]) => roles.includes(role);
  const hasBot = has('receiver') || has('worker');
  const isServing = config.mode === 'serving';
  return [
    ...(embedded.redis ? [] : [redisProbe(redisAddress(config, secrets))]),
    ...(isServing && has('service') ? await serviceLooks(config, secrets) : []),
    ...(has('worker') && !embedded.chat
      ? [chatProbe(asEngineKnows(config), secrets.chatApiKey), ...unlistedModels(config)]
      : []),
    ...(hasBot && !embedded.signIn && signIn.mode !== 'off' ? [signInProbe(signInToCheck(config, secrets))] : []),
    ...(isServing && hasBot ? [publicUrlProbe(http.publicUrl), ...(await platformProbes(parts))] : []),
  ];
}

/** Looks once at all, then again and again at what does not work, until all does. */
export function watchTroubles(
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

/** A connection of its own, so that why it comes to nothing is known, and nothing waits behind it. */
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
        ? 'Redis refuses the user or the password in REDIS_URL: no message can be taken in or answered. It is tried again and again.'
        : `Redis does not answer at ${placesOf(address)}: no message can be taken in or answered until it does. Start it, or see that REDIS_URL is right; it is tried again and again.`;
    } finally {
      redis.disconnect();
    }
  };
  return { works: 'Redis answers.', find };
}

/** Without user and password. */
function placesOf({ urls }: RedisAddress): string {
  return urls
    .map((address) => new URL(address))
    .map(({ host, pathname }) => (host === '' ? pathname : host))
    .join(', ');
}

/** Asks for the list of models only: a start costs no answer. */
export function chatProbe(
  { baseUrl, model }: Pick<Config['chat'], 'baseUrl' | 'model'>,
  apiKey: string | undefined,
): StartProbe {
  const find = async () => {
    const headers = definedOnly({ authorization: apiKey === undefined ? undefined : `Bearer ${apiKey}` });
    const answer = await requestForCheck(`${baseUrl}/models`, { headers, timeoutMs: PROBE_LIMIT_MS });
    if ('code' in answer)
      return `The chat service does not answer at ${baseUrl} (${answer.code}): nothing can be answered until it does. See that CHAT_BASE_URL is right; it is asked again with each question.`;
    if (answer.status === 401 || answer.status === 403)
      return `The chat service refuses CHAT_API_KEY (${answer.status}): nothing can be answered until it is a valid key.`;
    if (answer.status >= 500)
      return `The chat service answers ${answer.status}: ask who runs it; it is asked again with each question.`;
    // Some services have no list; where the address looks wrong as well, it is.
    if (answer.status === 404 && !hasVersion(baseUrl))
      return `Nothing is at ${baseUrl}/models (404): most likely nothing can be answered. See that CHAT_BASE_URL ends in /v1.`;
    const listed = answer.status === 200 ? modelsIn(answer.body) : undefined;
    if (listed !== undefined && listed.length > 0 && !listed.includes(model))
      return `The chat service does not list the model ${model}: most likely nothing can be answered with it. Choose CHAT_MODEL from: ${listed.slice(0, 10).join(', ')}.`;
    return undefined;
  };
  return { works: 'The chat service answers.', find };
}

/** The model that answers, by the name that the engine is asked for. */
function asEngineKnows(config: Config): Parameters<typeof chatProbe>[0] {
  const { baseUrl, model } = config.chat;
  return { baseUrl, model: readCatalog(config).of(model).upstream };
}

/** What a models file does not tell stays untold until the next start. */
function unlistedModels(config: Config): StartProbe[] {
  const catalog = readCatalog(config);
  const unlisted = config.chat.models.filter((name) => !catalog.lists(name));
  if (unlisted.length === 0) return [];
  const [are, they] = unlisted.length === 1 ? ['is', 'it gets'] : ['are', 'they get'];
  const sentence = `${unlisted.join(', ')} ${are} in CHAT_MODELS and not in MODELS_FILE: ${they} text and tools, no images and no thinking. npm run check tries what would fit, and prints the entry.`;
  return [{ works: '', find: async () => sentence }];
}

/** Some services refuse whoever is no browser, so that a refusal of our client is no proof that people are refused. */
export function signInProbe(options: Parameters<typeof checkSignIn>[0]): StartProbe {
  const find = async () => {
    const results = await withTimeout(checkSignIn(options), PROBE_LIMIT_MS).catch(() => []);
    const fault = sentenceOf(results);
    const warning = sentenceOf(results, 'warning');
    return fault ? `Nobody can sign in. ${fault}` : warning && `Perhaps nobody can sign in. ${warning}`;
  };
  return { works: 'The sign-in service answers.', find };
}

/**
 * Whether the name in `PUBLIC_URL` has an address at all. Whether that leads here is a question for `npm run check`: from behind a
 * firewall a machine often does not reach its own public address. A DNS that is itself away proves nothing.
 */
export function publicUrlProbe(publicUrl: string): StartProbe {
  const { hostname } = new URL(publicUrl);
  const find = async () => {
    try {
      await withTimeout(lookup(hostname.replace(/^\[|\]$/g, '')), PROBE_LIMIT_MS);
      return undefined;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOTFOUND') return undefined;
      return `${hostname} has no address as far as this machine knows: the chat app and people's browsers come here by PUBLIC_URL. Correct it, or enter the name into the DNS.`;
    }
  };
  return { works: 'The name in PUBLIC_URL has an address.', find };
}

/** What a service for real people was not told stays as it is until the next start. */
async function serviceLooks(config: Config, secrets: Secrets): Promise<StartProbe[]> {
  const lacks = await lacksOfService(config, secrets);
  return lacks.map(({ sentence }) => ({ works: '', find: async () => sentence }));
}

async function platformProbes(parts: ProbeDeps): Promise<StartProbe[]> {
  const { checkPlatform } = await import('../check/check-platform.ts');
  return parts.config.platforms.map((name) => ({
    works: `${describePlatform(name).label.en} takes our calls.`,
    async find() {
      const results = await withTimeout(checkPlatform(name, parts, true), PROBE_LIMIT_MS).catch(() => []);
      return sentenceOf(results);
    },
  }));
}

/** The first of a check's lines with that verdict. */
function sentenceOf(results: readonly CheckResult[], verdict: CheckResult['verdict'] = 'fault'): string | undefined {
  const fault = results.find((result) => result.verdict === verdict);
  return (
    fault &&
    [`${fault.name}: ${fault.detail}`, ...(fault.nextStep === undefined ? [] : [fault.nextStep])].join('. ') + '.'
  );
}
