import { processTimeZone } from '../../shared/local-time.ts';
import { resolve } from 'node:path';
import type { Bilingual } from '../../shared/text/texts.ts';
import type { PlatformDescription } from '../platforms/description.ts';
import { describePlatform, PLATFORMS, type PlatformConfigs, type PlatformSecrets } from '../platforms/registry.ts';
import { exampleFile, shippedFile, type ConfigFile } from './config-file.ts';
import type { ClientAuth, Config, Secrets } from './config.ts';
import type { ValidatedSettings } from './cross-checks.ts';
import { credentialsOf, EMBEDDED_MODELS, isConnected, isListed, isServiceAlone, simulatedPlatform } from './mode.ts';
import type { Settings } from './schema.ts';

/** Tokens of a prompt without files, and of any prompt for a model of unknown context. */
const DEFAULT_PROMPT_TOKENS = 24_000;

/** Names of local mode's embedded parts; none is a secret. */
const LOCAL = {
  serviceName: { en: 'Parley Sign-in', zh: '统一身份认证' },
  clientId: 'parley',
  botName: 'Parley',
  peopleFile: 'config/people.json',
  groupsFile: 'config/groups.json',
};

/** Settings that name a file shipped with Parley. */
type FileSetting =
  | 'CHAT_SYSTEM_PROMPT_FILE'
  | 'KNOWLEDGE_FILE'
  | 'MODELS_FILE'
  | 'POLICY_FILE'
  | 'PROMPTS_FILE'
  | 'MODERATION_WORDS_FILE'
  | 'SCENES_FILE'
  | 'TOOLS_FILE';

export interface ProcessEnvironment {
  /** Base of relative paths. */
  cwd: string;
  isTerminal: boolean;
}

/** Builds the configuration from validated settings, including all defaults that depend on other settings. */
export function assembleConfig(judged: ValidatedSettings, { cwd, isTerminal }: ProcessEnvironment): Config {
  const { settings, given, mode, roles } = judged;
  const isLocal = mode === 'local';
  const service = `http://127.0.0.1:${settings.SERVICE_PORT}`;
  const port = portOf(judged);
  const fileOf = (name: FileSetting, shippedOf = shippedFile): ConfigFile => ({
    path: resolve(cwd, settings[name]),
    shipped: given.has(name) ? undefined : shippedOf(settings[name]),
  });
  const served = PLATFORMS.filter((platform) => isServed(platform, judged));
  const models = settings.CHAT_MODELS ?? EMBEDDED_MODELS;
  const ownUrl = isServiceAlone(roles) ? (settings.SERVICE_PUBLIC_URL ?? settings.PUBLIC_URL) : settings.PUBLIC_URL;
  return {
    mode,
    roles,
    embedded: {
      redis: !given.has('REDIS_URL'),
      chat: isLocal && !given.has('CHAT_BASE_URL'),
      signIn: isLocal && !given.has('SIGN_IN_URL'),
    },
    http: {
      host: settings.HOST ?? (isLocal ? '127.0.0.1' : '0.0.0.0'),
      port,
      metricsPort: settings.METRICS_PORT,
      adminPort: settings.ADMIN_PORT,
      publicUrl: ownUrl ?? `http://127.0.0.1:${port}`,
      trustedProxyHops: settings.TRUSTED_PROXY_HOPS,
      shutdownGraceSec: settings.SHUTDOWN_GRACE_SEC,
    },
    adminIds: settings.ADMIN_IDS ?? [],
    noProxy: settings.NO_PROXY ?? [],
    webhook: { windowSec: settings.WEBHOOK_WINDOW_SEC },
    timeZone: settings.TIME_ZONE ?? processTimeZone(),
    defaultLanguage: settings.DEFAULT_LANGUAGE,
    log: { level: settings.LOG_LEVEL, format: settings.LOG_FORMAT ?? (isTerminal ? 'pretty' : 'json') },
    tracing:
      settings.OTEL_EXPORTER_OTLP_ENDPOINT === undefined
        ? undefined
        : {
            endpoint: settings.OTEL_EXPORTER_OTLP_ENDPOINT,
            serviceName: settings.OTEL_SERVICE_NAME,
            sampler: settings.OTEL_TRACES_SAMPLER,
            samplerShare: settings.OTEL_TRACES_SAMPLER_ARG,
          },
    redis: {
      sentinelName: settings.REDIS_SENTINEL_NAME,
      sentinelUsername: settings.REDIS_SENTINEL_USERNAME,
      sentinelTls: settings.REDIS_SENTINEL_TLS,
      allowDataLoss: settings.REDIS_ALLOW_DATA_LOSS,
    },
    queue: {
      shards: settings.QUEUE_SHARDS,
      workerConcurrency: settings.WORKER_CONCURRENCY,
      turnMaxCrashes: settings.TURN_MAX_CRASHES,
      softWaiting: settings.QUEUE_SOFT_WAITING,
      hardWaiting: settings.QUEUE_HARD_WAITING,
      softAgeSec: settings.QUEUE_SOFT_AGE_SEC,
      hardAgeSec: settings.QUEUE_HARD_AGE_SEC,
      personPerMinute: settings.LIMIT_PERSON_PER_MINUTE,
      chatPerMinute: settings.LIMIT_CHAT_PER_MINUTE,
      questionMaxAgeSec: settings.QUESTION_MAX_AGE_SEC,
      canarySec: settings.CANARY_SEC,
    },
    conversation: {
      historyTtlDays: settings.HISTORY_TTL_DAYS,
      feedbackTtlDays: settings.FEEDBACK_TTL_DAYS,
      keepsFeedbackText: settings.FEEDBACK_TEXT,
      showsUnansweredText: settings.UNANSWERED_TEXT,
      idleSec: settings.CONVERSATION_IDLE_SEC,
      groupScope: settings.GROUP_SCOPE,
      followsThreads: settings.THREAD_FOLLOW,
      aiMark: settings.AI_MARK,
    },
    audit: {
      isOn: settings.AUDIT,
      directory: settings.AUDIT_DIR === undefined ? undefined : resolve(cwd, settings.AUDIT_DIR),
      days: {
        question: settings.AUDIT_QUESTION_DAYS,
        'sign-in': settings.AUDIT_SIGN_IN_DAYS,
        admin: settings.AUDIT_ADMIN_DAYS,
      },
    },
    chat: {
      baseUrl: settings.CHAT_BASE_URL ?? `${service}/v1`,
      models,
      modelsFrom: isListed(judged) ? 'service' : 'settings',
      model: settings.CHAT_MODEL ?? (models[0] as string),
      isModelNamed: settings.CHAT_MODEL !== undefined,
      fallbackModel: settings.CHAT_FALLBACK_MODEL,
      systemPromptFile: fileOf('CHAT_SYSTEM_PROMPT_FILE'),
      promptTokens: settings.CHAT_PROMPT_TOKENS ?? DEFAULT_PROMPT_TOKENS,
      maxPromptTokens: settings.CHAT_PROMPT_TOKENS,
      sendsUser: settings.CHAT_SEND_USER,
      thinkingShown: settings.THINKING_SHOWN,
    },
    modelsFile: fileOf('MODELS_FILE'),
    hasModelsSecret: settings.MODELS_SECRET !== undefined,
    promptsFile: fileOf('PROMPTS_FILE'),
    moderation: {
      wordsFile: fileOf('MODERATION_WORDS_FILE'),
      url: settings.MODERATION_URL,
      whenAway: settings.MODERATION_AWAY,
      maskedInPrompts: settings.MODERATION_MASK_IN === 'answers' ? [] : (settings.MODERATION_MASK ?? []),
      maskedInAnswers: settings.MODERATION_MASK_IN === 'prompts' ? [] : (settings.MODERATION_MASK ?? []),
    },
    knowledgeFile: fileOf('KNOWLEDGE_FILE', isLocal ? exampleFile : shippedFile),
    policyFile: fileOf('POLICY_FILE'),
    scenesFile: fileOf('SCENES_FILE'),
    toolsFile: fileOf('TOOLS_FILE'),
    webSearchUrl: settings.WEB_SEARCH_URL,
    reply: { minEditMs: settings.REPLY_MIN_EDIT_MS },
    signIn: assembleSignIn(judged, service, cwd),
    platforms: served.map(({ name }) => name),
    connections: served.filter((platform) => isConnected(platform, settings)).map(({ name }) => name),
    ...assemblePlatforms(judged),
    local: {
      dataDir: resolve(cwd, settings.DATA_DIR),
      servicePort: settings.SERVICE_PORT,
      messengerPort: settings.MESSENGER_PORT,
      enginePorts: settings.LOCAL_ENGINE_PORTS,
      messengerProtocol: settings.MESSENGER_PROTOCOL,
      botName: localBotName(settings),
      groupsFile: ofLocalMode(LOCAL.groupsFile, cwd),
    },
    service: assembleService(judged, cwd),
  };
}

/** Name of the bot in the messenger: the one set for the platform that the messenger plays. */
function localBotName(settings: Settings): string {
  const { nameSetting } = describePlatform(settings.MESSENGER_PROTOCOL);
  return nameSetting === undefined ? LOCAL.botName : (settings[nameSetting as keyof Settings] as string);
}

/** The service alone listens on one port, set by either name. */
function portOf({ settings, given, roles }: ValidatedSettings): number {
  return isServiceAlone(roles) && !given.has('PORT') && given.has('SERVICE_PORT')
    ? settings.SERVICE_PORT
    : settings.PORT;
}

function clientAuthOf(given: Settings['SIGN_IN_CLIENT_AUTH']): ClientAuth | undefined {
  return given === 'auto' ? undefined : given;
}

function assembleSignIn(judged: ValidatedSettings, embeddedUrl: string, cwd: string): Config['signIn'] {
  const { settings } = judged;
  const { SIGN_IN_TYPE: type, SIGN_IN_PROFILE_MAP_FILE: mapFile } = settings;
  const given = settings.SIGN_IN_URL ?? embeddedUrl;
  // An issuer is compared exactly, so it is not normalised.
  const url = type === 'oidc' ? given : new URL(given).href.replace(/(?<!\/)\/+$/, '');
  return {
    mode: settings.SIGN_IN,
    type,
    url,
    clientId: type === 'cas' ? '' : (settings.SIGN_IN_CLIENT_ID ?? LOCAL.clientId),
    scope: settings.SIGN_IN_SCOPE ?? (type === 'oidc' ? 'openid profile' : 'SVC-Basic'),
    clientAuth: clientAuthOf(settings.SIGN_IN_CLIENT_AUTH),
    profileMapFile: mapFile === undefined ? undefined : resolve(cwd, mapFile),
    linkDays: settings.SIGN_IN_LINK_DAYS,
    maxFailuresPerMinute: settings.LIMIT_SIGN_IN_FAILURES_PER_MINUTE,
    state: settings.SIGN_IN_STATE,
    ...proofsOf(judged),
    sameIdRule: settings.SIGN_IN_SAME_ID_RULE,
    identityCodes: settings.SIGN_IN_IDENTITY_CODES,
    expiresUnit: settings.SIGN_IN_EXPIRES_UNIT,
    keepTokens: settings.SIGN_IN_KEEP_TOKENS,
    serviceName: serviceNameOf(settings.SIGN_IN_SERVICE_NAME, url === embeddedUrl, url),
    helpUrl: settings.SIGN_IN_HELP_URL,
  };
}

function serviceNameOf(given: string | undefined, isEmbedded: boolean, url: string): Bilingual {
  if (given === undefined && isEmbedded) return LOCAL.serviceName;
  const name = given ?? new URL(url).host;
  return { en: name, zh: name };
}

function proofsOf({ settings, roles }: ValidatedSettings): Pick<Config['signIn'], 'proofs' | 'proofsBy'> {
  if (settings.SIGN_IN === 'off' || isServiceAlone(roles)) return { proofs: [], proofsBy: {} };
  const named = settings.SIGN_IN_PROOF;
  if (named && 'by' in named) return { proofs: [...new Set(Object.values(named.by).flat())], proofsBy: named.by };
  if (named) return { proofs: named.everywhere, proofsBy: {} };
  // Settings without web sign-in for every active platform were refused before (SECURITY.md proof-of-person).
  return { proofs: ['same-browser'], proofsBy: {} };
}

function isServed(platform: PlatformDescription, { settings, given, mode }: ValidatedSettings): boolean {
  const set: ReadonlySet<string> = given;
  return simulatedPlatform(mode, settings)?.name === platform.name || set.has(credentialsOf(platform, settings)[0]);
}

function assemblePlatforms(judged: ValidatedSettings): PlatformConfigs {
  const { settings, mode } = judged;
  const configs = PLATFORMS.map((platform: PlatformDescription) => {
    const parts = {
      settings: settings as never,
      isOn: isServed(platform, judged),
      messengerUrl:
        simulatedPlatform(mode, settings)?.name === platform.name
          ? `http://127.0.0.1:${settings.MESSENGER_PORT}`
          : undefined,
    };
    return [platform.name, platform.assemble(parts)];
  });
  return Object.fromEntries(configs) as PlatformConfigs;
}

function secretsOfPlatforms(settings: Settings): PlatformSecrets {
  const names = PLATFORMS.flatMap((platform) => Object.entries<keyof Settings>(platform.secrets));
  return Object.fromEntries(names.map(([key, name]) => [key, settings[name]])) as PlatformSecrets;
}

function ofLocalMode(file: string, cwd: string): ConfigFile {
  return { path: resolve(cwd, file), shipped: exampleFile(file) };
}

function assembleService({ settings, mode }: ValidatedSettings, cwd: string): Config['service'] {
  const path = (file: string | undefined) => (file === undefined ? undefined : resolve(cwd, file));
  return {
    clientsFile: path(settings.SERVICE_CLIENTS_FILE),
    directoryFile: directoryOf(settings, mode, cwd),
    institution: institutionOf(settings),
    institutionName: settings.SERVICE_IDENTITY_NAME,
    profileMapFile: path(settings.SERVICE_PROFILE_MAP_FILE),
    upstreamUrl: settings.SERVICE_UPSTREAM_URL,
    upstreamModels: settings.SERVICE_UPSTREAM_MODELS ?? {},
    relayedFields: settings.SERVICE_RELAYED_FIELDS ?? [],
    imageAddresses: settings.SERVICE_IMAGE_ADDRESSES,
    accessTokenSec: settings.SERVICE_ACCESS_TOKEN_SEC,
    refreshTokenSec: settings.SERVICE_REFRESH_TOKEN_SEC,
  };
}

function directoryOf({ SERVICE_DIRECTORY_FILE: file }: Settings, mode: Config['mode'], cwd: string) {
  if (file !== undefined) return { path: resolve(cwd, file) };
  return mode === 'local' ? ofLocalMode(LOCAL.peopleFile, cwd) : undefined;
}

function institutionOf(settings: Settings): Config['service']['institution'] {
  const { SERVICE_OIDC_ISSUER: issuer, SERVICE_OIDC_CLIENT_ID: clientId, SERVICE_CAS_URL: url } = settings;
  if (issuer !== undefined && clientId !== undefined)
    return {
      kind: 'oidc',
      issuer,
      clientId,
      scope: settings.SERVICE_OIDC_SCOPE ?? 'openid profile',
      clientAuth: clientAuthOf(settings.SERVICE_OIDC_CLIENT_AUTH),
    };
  return url === undefined ? undefined : { kind: 'cas', url };
}

export function assembleSecrets(settings: Settings): Secrets {
  return {
    httpsProxy: settings.HTTPS_PROXY,
    httpProxy: settings.HTTP_PROXY,
    tracingHeaders: settings.OTEL_EXPORTER_OTLP_HEADERS,
    redisUrls: settings.REDIS_URL ?? [],
    redisSentinelPassword: settings.REDIS_SENTINEL_PASSWORD,
    secretKey: settings.SECRET_KEY,
    previousSecretKeys: settings.SECRET_KEY_PREVIOUS ?? [],
    chatApiKey: settings.CHAT_API_KEY,
    modelsSecret: settings.MODELS_SECRET,
    webSearchBraveKey: settings.WEB_SEARCH_BRAVE_KEY,
    signInClientSecret: settings.SIGN_IN_CLIENT_SECRET,
    ...secretsOfPlatforms(settings),
    serviceApiKeys: settings.SERVICE_API_KEYS ?? [],
    serviceOidcClientSecret: settings.SERVICE_OIDC_CLIENT_SECRET,
    serviceUpstreamKey: settings.SERVICE_UPSTREAM_KEY,
  };
}
