import type { PlatformName } from '../domain/platform-name.ts';
import type { PlatformConfigs, PlatformSecrets } from '../platforms/registry.ts';
import type { Bilingual } from '../../shared/text/texts.ts';
import type { Mode, Role } from './mode.ts';
import type { SameIdRule } from './setting-kinds.ts';

export type { Mode, Role } from './mode.ts';
export type { SameIdRule } from './setting-kinds.ts';

/** How it is shown that the chat user and the signed-in person are one (SECURITY.md proof-of-person). */
export type SignInProof = 'same-browser' | 'same-id' | 'typed-code';

/**
 * What was decided at start: frozen, without secrets, so that it may be printed. Paths are absolute, addresses have no
 * slash at their end. In local mode the addresses of the embedded parts stand where none were set.
 */
/** As SIGN_IN_CLIENT_AUTH names it. */
export type ClientAuth = 'client_secret_basic' | 'client_secret_basic_raw' | 'client_secret_post';

export interface Config extends PlatformConfigs {
  readonly mode: Mode;
  readonly roles: readonly Role[];
  /** Which parts Parley brings itself, since no address was set for them. */
  readonly embedded: { readonly redis: boolean; readonly chat: boolean; readonly signIn: boolean };
  readonly http: {
    readonly host: string;
    readonly port: number;
    /** An origin. */
    readonly publicUrl: string;
    readonly trustedProxyHops: number;
    readonly shutdownGraceSec: number;
  };
  /** Hosts that are reached without a proxy. */
  readonly noProxy: readonly string[];
  readonly webhook: { readonly windowSec: number };
  /** The institution's time zone, an IANA name. */
  readonly timeZone: string;
  readonly log: { readonly level: string; readonly format: 'pretty' | 'json' };
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
    /** From where on answers get shorter (soft) or people are told to come again (hard). */
    readonly softWaiting: number;
    readonly hardWaiting: number;
    readonly softAgeSec: number;
    readonly hardAgeSec: number;
  };
  readonly conversation: {
    readonly historyTtlDays: number;
    /** How long ratings of answers are kept, and whether with people's own words. */
    readonly feedbackTtlDays: number;
    readonly keepsFeedbackText: boolean;
    /** 0: conversations do not end by themselves. */
    readonly idleSec: number;
    readonly groupScope: 'member' | 'group';
    /** Whether a thread in which the bot has answered may go on without naming it. */
    readonly followsThreads: boolean;
  };
  readonly chat: {
    readonly baseUrl: string;
    readonly models: readonly string[];
    readonly model: string;
    /** Answers when the model that should is away. */
    readonly fallbackModel: string | undefined;
    readonly systemPromptFile: string;
    /** Tokens that a prompt may take. */
    readonly promptTokens: number;
    /** Whether the chat service is told by a pseudonym on whose behalf it is asked. */
    readonly sendsUser: boolean;
    readonly thinkingShown: 'never' | 'private' | 'everywhere';
  };
  /** What each model can do, and how it is asked. `isNamed`: by the settings, so that it must be there. */
  readonly modelsFile: { readonly path: string; readonly isNamed: boolean };
  /** What is offered to whom has said nothing yet. `isNamed`: by the settings, so that it must be there. */
  readonly scenesFile: { readonly path: string; readonly isNamed: boolean };
  readonly promptsFile: { readonly path: string; readonly isNamed: boolean };
  /** From where the institution's documents come. `isNamed`: by the settings, so that it must be there. */
  readonly knowledgeFile: { readonly path: string; readonly isNamed: boolean };
  /** Who may use the bot, where, and with which models. */
  readonly policyFile: string;
  /** Which tools are on, for whom and where. */
  readonly toolsFile: string;
  /** A SearXNG. */
  readonly webSearchUrl: string | undefined;
  readonly reply: { readonly minEditMs: number | undefined };
  readonly signIn: {
    readonly mode: 'required' | 'optional' | 'off';
    readonly type: 'oauth2' | 'oidc' | 'cas';
    readonly url: string;
    /** Empty with `cas`. */
    readonly clientId: string;
    readonly scope: string;
    /** How the secret is sent; undefined leaves it to the protocol and the provider. */
    readonly clientAuth: ClientAuth | undefined;
    readonly profileMapFile: string | undefined;
    /** Life of a link that cannot be checked again. */
    readonly linkDays: number;
    readonly state: 'required' | 'absent';
    /** Empty only when sign-in is off or the service runs alone. */
    readonly proofs: readonly SignInProof[];
    /** Those of each platform, where it has its own; else `proofs` are those of all. */
    readonly proofsBy: Readonly<Record<string, readonly SignInProof[]>>;
    readonly sameIdRule: SameIdRule;
    readonly identityCodes: readonly string[] | undefined;
    readonly expiresUnit: 'auto' | 'seconds' | 'milliseconds';
    readonly keepTokens: 'none' | 'refresh' | 'both';
    readonly serviceName: Bilingual;
    readonly helpUrl: string | undefined;
  };
  /** The platforms that this deployment serves; what each of them was told stands under its name. */
  readonly platforms: readonly PlatformName[];
  /** Those of them that deliver over a connection that we open, and have no webhook. */
  readonly connections: readonly PlatformName[];
  readonly local: {
    readonly dataDir: string;
    readonly servicePort: number;
    readonly messengerPort: number;
    readonly messengerProtocol: 'wecom' | 'slack';
    readonly botName: string;
  };
  readonly service: {
    readonly clientsFile: string | undefined;
    readonly directoryFile: string | undefined;
    /** The institution's unified identity. */
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

/** What must never be printed or logged. What local mode makes itself is absent here until `local/` has filled it in. */
export interface Secrets extends PlatformSecrets {
  /** A secret, since addresses may hold a password; empty when Redis is embedded. */
  readonly redisUrls: readonly string[];
  readonly redisSentinelPassword: string | undefined;
  /** Secrets, since their addresses may hold a password. */
  readonly httpsProxy: string | undefined;
  readonly httpProxy: string | undefined;
  readonly secretKey: Buffer | undefined;
  readonly previousSecretKeys: readonly Buffer[];
  readonly chatApiKey: string | undefined;
  readonly webSearchBraveKey: string | undefined;
  readonly signInClientSecret: string | undefined;
  readonly serviceApiKeys: readonly string[];
  readonly serviceOidcClientSecret: string | undefined;
  readonly serviceUpstreamKey: string | undefined;
}
