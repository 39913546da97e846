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

/** Where the service listens. */
export interface ServiceAddress {
  /** 0 selects a free port. */
  port: number;
  host: string;
  /** Public URL for browsers. Defaults to the listening address. */
  publicUrl?: string;
  /** Whether every request must name that host, an address or a local name (SECURITY.md own-host). Defaults to false. */
  refusesForeignHosts?: boolean;
  /** Number of proxies that set `X-Forwarded-For`. Default 0: the socket's address counts. */
  trustedProxyHops?: number;
}

/** The institution's identity provider. */
export interface Institution {
  signIn: InstitutionSignIn;
  /** Its display name for the button. Defaults to "your institution". */
  name?: string;
}

/** Content of the files that may change while the service runs. */
export interface ServedFiles {
  /** Model names and their entries. */
  models: ModelCatalog;
  clients: readonly ServiceClient[];
  directory: readonly ServicePerson[];
  /** The institution's identity provider, in addition to the directory or instead of it. */
  institution?: Institution;
}

/** Access to the chat interface, and its limits. */
export interface ServiceChat {
  /** Accepted API keys of the chat interface. */
  apiKeys: readonly string[];
  /** Limits of each API key. Default 200 requests in 10 seconds, 20 concurrent. */
  chatLimits?: ChatLimits;
}

/** Answer generation. */
export interface ServiceEngine {
  /** An OpenAI-compatible engine. Defaults to the built-in model. */
  upstream?: UpstreamOptions;
  /** The directory with README.md and docs/, from which the built-in model answers. */
  docsDir: string;
  /** Speed of the built-in model. Default 30 tokens per second. */
  builtInPace?: { tokensPerSec: number };
  /** Whether people of the connected bot type its commands without a slash (Slack). */
  bareWords?: boolean;
}

/** Sign-in. */
export interface ServiceSignIn {
  /** Messaging apps inside which the app's own web sign-in is used; elsewhere, and without any, people choose. */
  messagingApps?: readonly MakeMessagingApp[];
  /** Limits of wrong passwords. Default 1,000 per address in ten minutes. */
  loginLimits?: LoginLimits;
  accessTokenSec: number;
  refreshTokenSec: number;
}

/** Monitoring. */
export interface ServiceHealth {
  /** Content of `/metrics`; without it there is no such path. */
  metrics?: () => Promise<{ contentType: string; text: string }>;
  /** Response of `/healthz?nonce=`, with which a configuration check identifies the deployment that it reached. */
  prove?: (nonce: string) => string;
  /** Status of optional parts for `/readyz`, by name. */
  remarks?: () => Readonly<Record<string, string | undefined>>;
  /** Called regularly with the number of service processes on the same Redis whose keys do not match. */
  tellForeignKeys?: (processes: number) => void;
}

export interface ServiceOptions {
  address: ServiceAddress;
  files: ServedFiles;
  chat: ServiceChat;
  engine: ServiceEngine;
  signIn: ServiceSignIn;
  health?: ServiceHealth;
  /** Stores codes, tokens, sessions and consents. Each command is given up after 1.5 s; pages then return 503. */
  redis: RedisClient;
  /** Seals forms, round trips and people. Defaults to a random key, with which a restart ends all open sign-ins. */
  keyRing?: KeyRing;
  nowMs: NowMs;
  log: Log;
}
