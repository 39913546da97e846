import type { NowMs } from '../shared/clock.ts';
import type { KeyRing } from '../shared/crypto/key-ring.ts';
import type { Log } from '../shared/log.ts';
import type { RedisClient } from '../shared/redis/redis.ts';
import type { ModelCatalog } from '../shared/models/model-catalog.ts';
import type { ChatLimits } from './chat/key-limits.ts';
import type { ServiceClient } from './clients-file.ts';
import type { ServicePerson } from './directory-file.ts';
import type { LoginLimits } from './oauth/login-throttle.ts';
import type { InstitutionSignIn, MakeMessagingApp } from './oauth/methods/redirect-sign-in.ts';
import type { UpstreamOptions } from './upstream/engine-call.ts';

/** Where the service stands. */
export interface ServiceAddress {
  /** 0 takes a free one. */
  port: number;
  host: string;
  /** How browsers reach the service. Defaults to the listening address. */
  publicUrl?: string;
  /** Whether every request must name that host, an address or a local name (SECURITY.md own-host). Defaults to false. */
  refusesForeignHosts?: boolean;
  /** How many proxies in front set `X-Forwarded-For`. Default 0: the socket's address counts. */
  trustedProxyHops?: number;
}

/** The institution's unified identity. */
export interface Institution {
  signIn: InstitutionSignIn;
  /** What people call it, for the button; "your institution" unless told. */
  name?: string;
}

/** What files say that may be changed while the service runs. */
export interface ServedFiles {
  /** What is served under which names. */
  models: ModelCatalog;
  clients: readonly ServiceClient[];
  directory: readonly ServicePerson[];
  /** The institution's unified identity, besides the directory or instead of it. */
  institution?: Institution;
}

/** Who may ask for answers, and how much. */
export interface ServiceChat {
  /** The keys that the chat interface accepts. */
  apiKeys: readonly string[];
  /** Limits of each API key. Default 200 requests in 10 seconds, 20 at once. */
  chatLimits?: ChatLimits;
}

/** Who answers. */
export interface ServiceEngine {
  /** An OpenAI-compatible engine; the built-in model answers without it. */
  upstream?: UpstreamOptions;
  /** The folder that holds README.md and docs/, which the built-in model answers from. */
  docsDir: string;
  /** Pace of the built-in model. Default 30 tokens a second. */
  builtInPace?: { tokensPerSec: number };
  /** Whether people type the bot's words without a slash in the app beside it (Slack). */
  bareWords?: boolean;
}

/** How people sign in, and what they get by it. */
export interface ServiceSignIn {
  /** Messaging apps inside which the app's own web sign-in counts; elsewhere, and without any, people choose. */
  messagingApps?: readonly MakeMessagingApp[];
  /** Limits of wrong passwords. Default 1,000 of an address in ten minutes. */
  loginLimits?: LoginLimits;
  accessTokenSec: number;
  refreshTokenSec: number;
}

/** What the service says of itself. */
export interface ServiceHealth {
  /** What `/metrics` shows; that address does not exist without it. */
  metrics?: () => Promise<{ contentType: string; text: string }>;
  /** What `/healthz?nonce=` answers, so that a check of the settings knows whom it reached. */
  prove?: (nonce: string) => string;
  /** What `/readyz` says of parts without which it can work, by their names. */
  remarks?: () => Readonly<Record<string, string | undefined>>;
}

export interface ServiceOptions {
  address: ServiceAddress;
  files: ServedFiles;
  chat: ServiceChat;
  engine: ServiceEngine;
  signIn: ServiceSignIn;
  health?: ServiceHealth;
  /** Holds codes, tokens, sessions and consents. Each use is given up after 1.5 s, then pages answer 503. */
  redis: RedisClient;
  /** Seals forms, round trips and people; made at random unless told, then a restart ends what was begun. */
  keyRing?: KeyRing;
  nowMs: NowMs;
  log: Log;
}
