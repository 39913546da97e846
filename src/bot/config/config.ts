import type { MaskKind } from '../domain/mask-kinds.ts';
import type { PlatformName } from '../domain/platform-name.ts';
import type { PlatformConfigs, PlatformSecrets } from '../platforms/registry.ts';
import type { Bilingual, Language } from '../../shared/text/texts.ts';
import type { ConfigFile } from './config-file.ts';
import type { Mode, Role } from './mode.ts';
import type { SameIdRule } from './setting-kinds.ts';

export type { Mode, Role } from './mode.ts';
export type { SameIdRule } from './setting-kinds.ts';

/** Proof that the chat user and the signed-in person are the same (SECURITY.md proof-of-person). */
export type SignInProof = 'same-browser' | 'same-id' | 'typed-code';

/** Values of SIGN_IN_CLIENT_AUTH, without `auto`. */
export type ClientAuth = 'client_secret_basic' | 'client_secret_basic_raw' | 'client_secret_post';

/**
 * Configuration decided at start: frozen and without secrets, so that it may be printed. Paths are absolute, addresses have
 * no trailing slash. In local mode it includes the addresses of embedded parts.
 */
export interface Config extends PlatformConfigs {
  readonly mode: Mode;
  readonly roles: readonly Role[];
  /** Parts that Parley embeds because no address was set for them. */
  readonly embedded: { readonly redis: boolean; readonly chat: boolean; readonly signIn: boolean };
  readonly http: {
    readonly host: string;
    readonly port: number;
    /** Port of health and metrics; undefined: `port`. */
    readonly metricsPort: number | undefined;
    /** Port of the admin page; undefined: `port`. */
    readonly adminPort: number | undefined;
    /** An origin. */
    readonly publicUrl: string;
    readonly trustedProxyHops: number;
    readonly shutdownGraceSec: number;
  };
  /** Account ids that may open the admin page; empty: there is none. */
  readonly adminIds: readonly string[];
  /** Hosts reached without a proxy. */
  readonly noProxy: readonly string[];
  readonly webhook: { readonly windowSec: number };
  /** The institution's time zone, an IANA name. */
  readonly timeZone: string;
  /** For people whose language is unknown. */
  readonly defaultLanguage: Language;
  readonly log: { readonly level: string; readonly format: 'pretty' | 'json' };
  /** Where traces go; undefined: nothing is traced. */
  readonly tracing:
    | {
        readonly endpoint: string;
        readonly serviceName: string | undefined;
        readonly sampler: string | undefined;
        readonly samplerShare: string | undefined;
      }
    | undefined;
  readonly redis: {
    readonly sentinelName: string | undefined;
    readonly sentinelUsername: string | undefined;
    readonly sentinelTls: 'same' | 'yes' | 'no';
    readonly allowDataLoss: boolean;
  };
  readonly queue: {
    readonly shards: number;
    readonly workerConcurrency: number;
    readonly turnMaxCrashes: number;
    /** Limits above which answers get shorter (soft) or people are asked to try again later (hard). */
    readonly softWaiting: number;
    readonly hardWaiting: number;
    readonly softAgeSec: number;
    readonly hardAgeSec: number;
    /** Maximum messages per minute (SECURITY.md rate-limits). */
    readonly personPerMinute: number;
    readonly chatPerMinute: number;
    /** Maximum wait of a question for its turn (SECURITY.md in-order). */
    readonly questionMaxAgeSec: number;
    /** Interval of canary questions; 0: none. */
    readonly canarySec: number;
  };
  readonly conversation: {
    readonly historyTtlDays: number;
    /** How long ratings are kept, and whether people's comments are kept with them. */
    readonly feedbackTtlDays: number;
    readonly keepsFeedbackText: boolean;
    /** Whether administrators may read the texts of unanswered questions. */
    readonly showsUnansweredText: boolean;
    /** How answers are marked as AI-generated. */
    readonly aiMark: 'default' | 'none' | { readonly words: string };
    /** 0: idle conversations do not end. */
    readonly idleSec: number;
    readonly groupScope: 'member' | 'group';
    /** Whether a thread in which the bot has answered may continue without naming it. */
    readonly followsThreads: boolean;
  };
  readonly audit: {
    /** Whether people's sign-ins and questions are recorded. */
    readonly isOn: boolean;
    readonly directory: string | undefined;
    /** Retention of each class, in days. */
    readonly days: { readonly question: number; readonly 'sign-in': number; readonly admin: number };
  };
  readonly chat: {
    readonly baseUrl: string;
    /** Models that people can choose. With `modelsFrom: 'service'`, these hold only until the service has listed its models. */
    readonly models: readonly string[];
    /** `parent`: the service listed them to the process that started this one. */
    readonly modelsFrom: 'settings' | 'service' | 'parent';
    readonly model: string;
    /** Whether CHAT_MODEL is set. Otherwise `model` is the first of `models`. */
    readonly isModelNamed: boolean;
    /** Model used when the selected model is unavailable. */
    readonly fallbackModel: string | undefined;
    readonly systemPromptFile: ConfigFile;
    /** Maximum tokens of a prompt without files, and of one with files for a model of unknown context. */
    readonly promptTokens: number;
    /** Maximum tokens of a prompt with files, if the institution limits it further than the model does. */
    readonly maxPromptTokens: number | undefined;
    /** Whether the chat service receives a pseudonym of the person. */
    readonly sendsUser: boolean;
    readonly thinkingShown: 'never' | 'private' | 'everywhere';
  };
  /** Capabilities and request options of each model. */
  readonly modelsFile: ConfigFile;
  readonly hasModelsSecret: boolean;
  /** What groups, departments and platforms have for themselves. */
  readonly scenesFile: ConfigFile;
  /** Questions suggested to people who open the chat. */
  readonly promptsFile: ConfigFile;
  readonly moderation: {
    readonly wordsFile: ConfigFile;
    readonly url: string | undefined;
    readonly whenAway: 'block' | 'allow';
    /** What is masked in what is sent to the model, and in answers. */
    readonly maskedInPrompts: readonly MaskKind[];
    readonly maskedInAnswers: readonly MaskKind[];
  };
  /** Sources of the institution's documents. */
  readonly knowledgeFile: ConfigFile;
  /** Who may use the bot, where, and with which models. */
  readonly policyFile: ConfigFile;
  /** Which tools are enabled, for whom and where. */
  readonly toolsFile: ConfigFile;
  /** Address of a SearXNG. */
  readonly webSearchUrl: string | undefined;
  readonly reply: { readonly minEditMs: number | undefined };
  readonly signIn: {
    readonly mode: 'required' | 'optional' | 'off';
    readonly type: 'oauth2' | 'oidc' | 'cas';
    readonly url: string;
    /** Empty with `cas`. */
    readonly clientId: string;
    readonly scope: string;
    /** How the secret is sent. If undefined, the protocol and the provider decide. */
    readonly clientAuth: ClientAuth | undefined;
    readonly profileMapFile: string | undefined;
    /** Life of a link whose account cannot be checked again. */
    readonly linkDays: number;
    /** Maximum failed requests to the sign-in pages, per address. */
    readonly maxFailuresPerMinute: number;
    readonly state: 'required' | 'absent';
    /** Empty only when sign-in is off or the service runs alone. */
    readonly proofs: readonly SignInProof[];
    /** Proofs per platform, if each has its own; otherwise `proofs` applies to all. */
    readonly proofsBy: Readonly<Record<string, readonly SignInProof[]>>;
    readonly sameIdRule: SameIdRule;
    readonly identityCodes: readonly string[] | undefined;
    readonly expiresUnit: 'auto' | 'seconds' | 'milliseconds';
    readonly keepTokens: 'none' | 'refresh' | 'both';
    readonly serviceName: Bilingual;
    readonly helpUrl: string | undefined;
  };
  /** Platforms that this deployment serves. The configuration of each is under its name. */
  readonly platforms: readonly PlatformName[];
  /** Platforms that deliver over a connection that Parley opens, without a webhook. */
  readonly connections: readonly PlatformName[];
  readonly local: {
    readonly dataDir: string;
    readonly servicePort: number;
    readonly messengerPort: number;
    readonly enginePorts: readonly number[];
    readonly messengerProtocol: 'wecom' | 'slack';
    readonly botName: string;
    /** Groups of the messenger. */
    readonly groupsFile: ConfigFile;
  };
  readonly service: {
    readonly clientsFile: string | undefined;
    readonly directoryFile: ConfigFile | undefined;
    /** The institution's identity provider. */
    readonly institution:
      | {
          readonly kind: 'oidc';
          readonly issuer: string;
          readonly clientId: string;
          readonly scope: string;
          readonly clientAuth: ClientAuth | undefined;
        }
      | { readonly kind: 'cas'; readonly url: string }
      | undefined;
    readonly institutionName: string | undefined;
    readonly profileMapFile: string | undefined;
    readonly upstreamUrl: string | undefined;
    readonly upstreamModels: Readonly<Record<string, string>>;
    readonly relayedFields: readonly string[];
    readonly imageAddresses: boolean;
    readonly accessTokenSec: number;
    readonly refreshTokenSec: number;
  };
}

/** Values that must never be printed or logged. Those that local mode generates are absent until `local/` fills them in. */
export interface Secrets extends PlatformSecrets {
  /** Secret because addresses may contain a password. Empty if Redis is embedded. */
  readonly redisUrls: readonly string[];
  readonly redisSentinelPassword: string | undefined;
  /** Secret because proxy addresses may contain a password. */
  readonly httpsProxy: string | undefined;
  readonly httpProxy: string | undefined;
  /** Headers for the collector of traces, as the OpenTelemetry SDK reads them. */
  readonly tracingHeaders: string | undefined;
  readonly secretKey: Buffer | undefined;
  readonly previousSecretKeys: readonly Buffer[];
  readonly chatApiKey: string | undefined;
  /** Value of `{secret}` in the headers of MODELS_FILE. */
  readonly modelsSecret: string | undefined;
  readonly webSearchBraveKey: string | undefined;
  readonly signInClientSecret: string | undefined;
  readonly serviceApiKeys: readonly string[];
  readonly serviceOidcClientSecret: string | undefined;
  readonly serviceUpstreamKey: string | undefined;
}
