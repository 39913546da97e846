import { basename, dirname, join } from 'node:path';
import { tryUnlistedModels } from './try-models.ts';
import { checkChat } from './check-chat.ts';
import { checkCollector } from './check-collector.ts';
import { checkPublicUrl } from './check-public-url.ts';
import { checkKnowledge } from './check-knowledge.ts';
import { checkRedis } from './check-redis.ts';
import { checkSignIn, signInToCheck } from './check-sign-in.ts';
import { checkProxies } from './check-proxies.ts';
import { runChecks, type Check, type CheckOutput } from './run-checks.ts';
import { createLog } from '../../shared/log.ts';
import { headersAt } from '../../shared/models/model-catalog.ts';
import { checkPlatform } from './check-platform.ts';
import { checkPorts } from './check-ports.ts';
import { serviceChecks } from './check-service.ts';
import { proofOfConfiguration, type JudgeProof } from '../../bot/app/configuration-proof.ts';
import { redisAddress } from '../../bot/app/secrets.ts';
import { withModelsToday } from '../../bot/app/listed-models.ts';
import { readCatalog, readChatCatalog, readKnownModels } from '../../bot/app/models.ts';
import { faultsOfModelsFile, faultsOfNamedFiles, filesInUse, hintOnPolicy, type FileInUse } from './config-files.ts';
import { faultOfDataDir } from '../../bot/app/local/data-dir.ts';
import { secretsOfEarlierStart } from '../../bot/app/local/local-mode.ts';
import { needsLocalParts } from '../../bot/app/local/needs-local-parts.ts';
import { readOwnModel } from '../../bot/app/local/own-model-file.ts';
import { findRedisProgram } from '../../bot/app/local/redis-program.ts';
import type { CheckResult } from '../../bot/platforms/platform.ts';
import { describePlatform, PLATFORMS } from '../../bot/platforms/registry.ts';
import type { Config, Secrets } from '../../bot/config/config.ts';
import { isServiceAlone } from '../../bot/config/mode.ts';

const REAL_ONES = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(PLATFORMS.map(({ label }) => label.en));

/** Services of many models list hundreds. Models that the operator has named are all tested. */
const MAX_LISTED_TRIED = 8;

/** Names for the next steps if the model was connected in the web page. */
const CONNECTED_ON_PAGE = {
  baseUrl: 'the address on the page',
  apiKey: 'the key on the page',
  models: 'the model on the page',
  model: 'the model on the page',
  fallbackModel: 'the model on the page',
};

/**
 * `npm run check`: tests everything that the settings refer to, with one line each. Embedded parts are only named, because
 * they run only with `npm start`.
 * @returns the exit code: 1 if any line is a fault
 */
export async function runCheckCommand(
  set: Config,
  given: Secrets,
  output: CheckOutput = process.stdout,
): Promise<number> {
  const secrets = secretsOfEarlierStart(set, given);
  // The proof concerns the settings, not the models that the service lists today.
  const judge = secrets.secretKey ? proofOfConfiguration(set, secrets).judge : undefined;
  const config = await withModelsToday(set, secrets);
  const isAlone = isServiceAlone(config.roles);
  const ports = checkPorts(config, judge);
  const checks: Check[] = [
    { name: 'Files', run: () => checkNamedFiles(config, given) },
    { name: 'Ports', run: () => ports },
    { name: 'Proxy', run: () => checkProxies(given) },
    checkOfRedis(config, secrets),
    ...(isAlone || !config.tracing ? [] : [checkOfTraces(config.tracing, secrets)]),
    ...(isAlone ? serviceChecks(config, secrets) : botChecks(config, secrets, set.chat)),
    ...(config.mode === 'local' || !(isAlone || hasBot(config)) ? [] : [checkOfPublicUrl(config, judge, ports)]),
  ];
  return runChecks(checks, output);
}

function checkOfTraces(tracing: NonNullable<Config['tracing']>, secrets: Secrets): Check {
  return { name: 'Traces', run: () => checkCollector(tracing, secrets) };
}

function hasBot({ roles }: Config): boolean {
  return roles.includes('receiver') || roles.includes('worker');
}

async function checkNamedFiles(config: Config, given: Secrets): Promise<CheckResult[]> {
  const name = 'Files';
  const dataDir = needsLocalParts(config, given) ? faultOfDataDir(config.local.dataDir) : undefined;
  const faults = [...(await faultsOfNamedFiles(config)), ...(dataDir === undefined ? [] : [dataDir])];
  if (faults.length > 0) return faults.map((detail) => ({ name, verdict: 'fault', detail }));
  const { own, shipped } = filesInUse(config);
  const openPolicy = hintOnPolicy(config);
  const owned = own.map(({ setting, path }) => `${setting} ${path}`).join(', ');
  return [
    ...(own.length === 0 ? [] : [{ name, verdict: 'ok' as const, detail: `your files: ${owned}` }]),
    ...(shipped.length === 0 ? [] : [shippedFiles(name, shipped)]),
    ...(openPolicy === undefined ? [] : [{ name, verdict: 'hint' as const, detail: openPolicy }]),
  ];
}

function shippedFiles(name: string, files: readonly FileInUse[]): CheckResult {
  const named = files.map(({ path }) => join(basename(dirname(path)), basename(path)));
  const [parley] = files.map(({ path }) => dirname(dirname(path)));
  return {
    ...{ name, verdict: 'ok', detail: `files shipped with Parley: ${named.join(', ')}` },
    nextStep: `to change one, copy it from ${parley} to config/ and edit the copy`,
  };
}

function embedded(name: string, detail: string): Check {
  return { name, run: async () => [{ name, verdict: 'ok', detail }] };
}

function checkOfRedis(config: Config, secrets: Secrets): Check {
  if (config.embedded.redis) return embedded('Redis', `embedded, started by npm start (${findRedisProgram()})`);
  const log = createLog({ level: 'silent', format: 'json' });
  const address = redisAddress(config, secrets);
  return { name: 'Redis', run: () => checkRedis({ address, isLossAllowed: config.redis.allowDataLoss, log }) };
}

function botChecks(config: Config, secrets: Secrets, set: Config['chat']): Check[] {
  const { signIn } = config;
  return [
    config.embedded.chat
      ? checkOfEmbeddedChat(config)
      : {
          name: 'Chat service',
          run: async () => checkChat({ ...(await asEngineKnowsThem(config, secrets)), named: namedIn(set) }),
        },
    ...(config.embedded.chat
      ? []
      : [checkOfModels(config, secrets, set.modelsFrom === 'service' ? MAX_LISTED_TRIED : Infinity)]),
    ...(config.roles.includes('worker') ? [{ name: 'Knowledge', run: () => checkKnowledge(config) }] : []),
    ...(signIn.mode === 'off' ? [] : [checkOfSignIn(config, secrets)]),
    ...(config.mode === 'local'
      ? [embedded('Messaging app', `embedded; to use a real one, set the credentials of ${REAL_ONES}`)]
      : platformChecks(config, secrets)),
  ];
}

function namedIn({ modelsFrom, isModelNamed }: Config['chat']): { models: boolean; model: boolean } {
  return { models: modelsFrom === 'settings', model: isModelNamed };
}

/** The models under the names that the engine uses. */
async function asEngineKnowsThem(config: Config, secrets: Secrets): Promise<Parameters<typeof checkChat>[0]> {
  const { baseUrl, models, model, fallbackModel } = config.chat;
  const place = { baseUrl, apiKey: secrets.chatApiKey ?? '' };
  if ((await faultsOfModelsFile(config)).length > 0) return { ...place, models, model, fallbackModel };
  const catalog = readChatCatalog(config, secrets);
  const upstream = (name: string) => catalog.of(name).upstream;
  const fallback = fallbackModel === undefined ? undefined : upstream(fallbackModel);
  const headersFor = (there?: string) => headersAt(catalog, there);
  return { ...place, headersFor, models: models.map(upstream), model: upstream(model), fallbackModel: fallback };
}

/** Tests models that MODELS_FILE does not list and proposes entries for them. A faulty file is reported by another check. */
function checkOfModels(config: Config, secrets: Secrets, maxTried: number): Check {
  const run = async () => {
    const { baseUrl, models } = config.chat;
    const [fault] = await faultsOfModelsFile(config);
    if (fault !== undefined) return [];
    const catalog = readCatalog(config);
    const place = { baseUrl, apiKey: secrets.chatApiKey ?? '' };
    return tryUnlistedModels({
      ...{ ...place, models, catalog },
      ...{ known: readKnownModels(), maxTried },
      modelsFile: config.modelsFile.path,
    });
  };
  return { name: 'Models', run };
}

/** A model connected in the web page replaces the embedded one. */
function checkOfEmbeddedChat({ local }: Config): Check {
  const own = readOwnModel(local.dataDir);
  if (!own) return embedded('Chat service', 'embedded; to use your own, set CHAT_BASE_URL');
  const connected = { ...own, models: [own.model], title: 'Connected chat', settings: CONNECTED_ON_PAGE };
  return { name: 'Chat service', run: () => checkChat(connected) };
}

function checkOfSignIn(config: Config, secrets: Secrets): Check {
  const {
    embedded: { signIn: isEmbedded },
  } = config;
  const name = 'Sign-in service';
  if (isEmbedded) return embedded(name, 'embedded; to use your own, set SIGN_IN_URL');
  return { name, run: () => checkSignIn(signInToCheck(config, secrets)) };
}

/** Each platform checks its own credentials. */
function platformChecks(config: Config, secrets: Secrets): Check[] {
  return config.platforms.map((platform) => ({
    name: describePlatform(platform).label.en,
    run: () => checkPlatform(platform, { config, secrets }),
  }));
}

/** @param ports settles once the port check no longer listens; a call during that check would be cut off */
function checkOfPublicUrl(config: Config, judge: JudgeProof | undefined, ports: Promise<unknown>): Check {
  const { publicUrl } = config.http;
  const called = config.platforms.filter((platform) => !config.connections.includes(platform));
  const platforms = isServiceAlone(config.roles) ? [] : called;
  const hasSignIn = hasBot(config) && config.signIn.mode !== 'off';
  const run = async () => {
    await ports.catch(() => undefined);
    return checkPublicUrl({ publicUrl, judge, platforms, hasSignIn });
  };
  return { name: 'Public address', run };
}
