import type { NowMs } from '../../shared/clock.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { Log } from '../../shared/log.ts';
import type { Bilingual } from '../../shared/text/texts.ts';
import type { ClientAuthMethod } from '../../shared/sign-in/client-auth.ts';
import type { ProfileMap } from '../../shared/sign-in/profile-map-file.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import type { Platform } from '../platforms/platform.ts';
import type { PlatformName } from '../domain/platform-name.ts';
import type { ChatPerson, IdentityNotice, Release } from './account.ts';
import type { IdentityReport } from './audit.ts';
import { IdentityError } from './identity-error.ts';
import type { RecentChanges } from './links/recent-changes.ts';
import type { SameIdRule } from './id-matching.ts';
import type { FindHeldMessages } from './links/waiting.ts';
import type { ExpiresUnit } from './oauth/token-life.ts';

/**
 * How to prove that the chat user and the signed-in account are the same person (SECURITY.md proof-of-person). All listed
 * proofs must hold. `typed-code` cannot be combined with others; it is for platforms where they are impossible.
 */
export type Proof = 'same-browser' | 'same-id' | 'typed-code';

/** Which tokens are stored with a link: none, the refresh token for the daily re-check, or also the access token. */
export type KeepTokens = 'none' | 'refresh' | 'both';

/** The sign-in service and its protocol. */
export interface SignInService {
  /** The service's protocol. Defaults to `oauth2`. */
  type?: 'oauth2' | 'oidc' | 'cas';
  /**
   * For `oauth2` the sign-in interface's `{auth_url}` without a trailing slash; for `oidc` the exact issuer; for `cas` the
   * base address.
   */
  authUrl: string;
  /** Empty for CAS, which identifies applications by their address. */
  clientId: string;
  clientSecret: string;
  /**
   * How the client secret is sent. Defaults to the form with `oauth2`, and to the provider's advertised method with `oidc`.
   */
  clientAuth?: ClientAuthMethod;
  /** Omitted if undefined. */
  scope?: string;
  /**
   * Whether the service returns `state`. Set by the deployment, never derived from a request (SECURITY.md state-by-mode).
   */
  state: 'required' | 'absent';
  expiresUnit: ExpiresUnit;
  /**
   * Maps claims to profile fields. Defaults to the usual claims; with `oauth2` an empty map keeps the specification's names.
   */
  profileMap?: ProfileMap;
}

/** Rules for creating links and storing tokens. */
export interface SignInRules {
  /** At least one. */
  proof: readonly Proof[];
  /** Overrides by platform name. */
  proofBy?: Readonly<Record<string, readonly Proof[]>>;
  /** The rule for `same-id`. Defaults to an exact match with the profile's id. */
  sameIdRule?: SameIdRule;
  keepTokens: KeepTokens;
  /** Lifetime of a link that no token can re-check. Defaults to 30 days. */
  uncheckedLinkDays?: number;
  /** Identity types (`JG`, `XS`, `QT`) that may link. Defaults to all. */
  allowedIdentityCodes?: readonly string[];
}

/** The browser pages. */
export interface SignInPages {
  /** The public origin, without a path. */
  publicUrl: string;
  /** Name of the institution or sign-in service on the pages. */
  providerName: Bilingual;
  /** Number of proxies that append to `X-Forwarded-For`. Defaults to 0. */
  trustedProxyHops?: number;
  /** Maximum failed requests per address and minute. Defaults to 600. */
  maxFailuresPerMinute?: number;
  /** The help desk's page or `mailto:` address, shown where only staff can help. */
  helpUrl?: string;
}

/** What this module needs from the chat side. */
export interface ChatHooks {
  /**
   * Called once for each conversation that a new link releases. A failed call is repeated by the caller of
   * `pendingReleases`.
   */
  onLinked(release: Release): Promise<void> | void;
  /** Finds a user's messages held for sign-in. Defaults to none. */
  findHeldMessages?: FindHeldMessages;
  /** Notifies a user in their private chat. Failures are only logged. */
  notify(person: ChatPerson, notice: IdentityNotice): Promise<void> | void;
}

export interface IdentityOptions {
  /** A fail-fast connection: if Redis is unavailable, pages answer sign-in-unavailable without waiting. */
  redis: RedisClient;
  keyRing: KeyRing;
  platforms: ReadonlyMap<PlatformName, Platform>;
  signIn: { service: SignInService; rules: SignInRules };
  pages: SignInPages;
  chat: ChatHooks;
  /**
   * Recent links and unlinks of this process. Shared by all its identities, so that none restores a link that another
   * removed.
   */
  changes?: RecentChanges;
  nowMs: NowMs;
  log: Log;
  report: IdentityReport;
}

/** The proofs required for chat accounts of this platform. */
export function proofsFor(
  { proof, proofBy }: Pick<SignInRules, 'proof' | 'proofBy'>,
  platform: string,
): readonly Proof[] {
  return proofBy?.[platform] ?? proof;
}

/**
 * @throws IdentityError `options_unsafe` if sign-in would run without a proof (SECURITY.md proof-of-person,
 * checked-at-start)
 */
export function rejectUnsafeRules(rules: SignInRules, platforms: IdentityOptions['platforms']): void {
  const named = [rules.proof, ...Object.values(rules.proofBy ?? {})];
  if (named.some((proofs) => proofs.length === 0))
    throw new IdentityError('options_unsafe', 'Sign-in requires a proof: set SIGN_IN_PROOF');
  const ofPlatforms = [...platforms.values()].map((platform) => ({
    platform,
    proofs: proofsFor(rules, platform.name),
  }));
  if (ofPlatforms.some(({ proofs }) => proofs.includes('typed-code') && proofs.length > 1))
    throw new IdentityError('options_unsafe', 'SIGN_IN_PROOF=typed-code cannot be combined with another proof');
  const lacking = ofPlatforms
    .filter(({ platform, proofs }) => proofs.includes('same-browser') && !platform.webSignIn)
    .map(({ platform }) => platform.name);
  if (lacking.length === 0) return;
  throw new IdentityError(
    'options_unsafe',
    `SIGN_IN_PROOF=same-browser requires the web sign-in of ${lacking.join(', ')}`,
  );
}
