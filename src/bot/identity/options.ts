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
 * How it is shown that the chat person and the signed-in person are one (SECURITY.md proof-of-person); all that are named must hold.
 * `typed-code` stands alone: it is for platforms where the others are impossible.
 */
export type Proof = 'same-browser' | 'same-id' | 'typed-code';

/** What is kept after a link was made: no token, the refresh token for the daily re-check, or the access token too. */
export type KeepTokens = 'none' | 'refresh' | 'both';

/** The sign-in service, and how it is spoken to. */
export interface SignInService {
  /** What the service speaks; the specification's `oauth2` unless told. */
  type?: 'oauth2' | 'oidc' | 'cas';
  /** The sign-in interface's `{auth_url}`, without a slash at its end; OpenID Connect's issuer, letter by letter; CAS's base. */
  authUrl: string;
  /** Empty with CAS, which knows applications by their address. */
  clientId: string;
  clientSecret: string;
  /** How the secret is sent. Defaults to the form with `oauth2`, and to what the provider offers with `oidc`. */
  clientAuth?: ClientAuthMethod;
  /** Sent only when given. */
  scope?: string;
  /** Whether the service returns `state`; decided by the deployment, never by a request (SECURITY.md state-by-mode). */
  state: 'required' | 'absent';
  expiresUnit: ExpiresUnit;
  /** Which claims give which part of a profile. Defaults to the usual ones; with `oauth2` an empty map keeps the specification's names. */
  profileMap?: ProfileMap;
}

/** Which links are made, and what is kept of them. */
export interface SignInRules {
  /** At least one. */
  proof: readonly Proof[];
  /** Those of a platform, by its name, where it has its own. */
  proofBy?: Readonly<Record<string, readonly Proof[]>>;
  /** What `same-id` compares; the profile's id, exactly, unless told. */
  sameIdRule?: SameIdRule;
  keepTokens: KeepTokens;
  /** Life of a link without a token to check it by. Defaults to 30 days. */
  uncheckedLinkDays?: number;
  /** Identity types (`JG`, `XS`, `QT`) that may link; all unless told. */
  allowedIdentityCodes?: readonly string[];
}

/** The pages in the browser. */
export interface SignInPages {
  /** How browsers reach us, without a path. */
  publicUrl: string;
  /** The institution's or sign-in service's name on the pages. */
  providerName: Bilingual;
  /** Proxies in front of us that append to `X-Forwarded-For`; 0 unless told. */
  trustedProxyHops?: number;
  /** The help desk's page or `mailto:` address, offered where only people can help. */
  helpUrl?: string;
}

/** What this room asks of the chat's side. */
export interface ChatSide {
  /** Called at once for each conversation that a new link frees; a failure is made good by who repeats `pendingReleases`. */
  onLinked(release: Release): Promise<void> | void;
  /** Looks what of a person waits for their sign-in; unless told, nothing is said to wait. */
  lookForHeld?: FindHeldMessages;
  /** Tells a person something in their private chat. A failure is logged, nothing more. */
  notify(person: ChatPerson, notice: IdentityNotice): Promise<void> | void;
}

export interface IdentityOptions {
  /** A fail-fast connection: pages answer sign-in-unavailable rather than wait. */
  redis: RedisClient;
  keyRing: KeyRing;
  platforms: ReadonlyMap<PlatformName, Platform>;
  signIn: { service: SignInService; rules: SignInRules };
  pages: SignInPages;
  chat: ChatSide;
  /** What this process has linked and undone; its identities share it, so that none makes a link that another undid. */
  changes?: RecentChanges;
  nowMs: NowMs;
  log: Log;
  report: IdentityReport;
}

/** The proofs that all must hold for a chat account of this platform. */
export function proofsFor(
  { proof, proofBy }: Pick<SignInRules, 'proof' | 'proofBy'>,
  platform: string,
): readonly Proof[] {
  return proofBy?.[platform] ?? proof;
}

/** @throws IdentityError `options_unsafe` when sign-in would run without a proof (SECURITY.md proof-of-person, checked-at-start). */
export function refuseUnsafe(rules: SignInRules, platforms: IdentityOptions['platforms']): void {
  const named = [rules.proof, ...Object.values(rules.proofBy ?? {})];
  if (named.some((proofs) => proofs.length === 0))
    throw new IdentityError('options_unsafe', 'Sign-in needs a proof: SIGN_IN_PROOF');
  const ofPlatforms = [...platforms.values()].map((platform) => ({
    platform,
    proofs: proofsFor(rules, platform.name),
  }));
  if (ofPlatforms.some(({ proofs }) => proofs.includes('typed-code') && proofs.length > 1))
    throw new IdentityError('options_unsafe', 'SIGN_IN_PROOF=typed-code stands alone');
  const lacking = ofPlatforms
    .filter(({ platform, proofs }) => proofs.includes('same-browser') && !platform.webSignIn)
    .map(({ platform }) => platform.name);
  if (lacking.length === 0) return;
  throw new IdentityError(
    'options_unsafe',
    `SIGN_IN_PROOF=same-browser needs the web sign-in of ${lacking.join(', ')}`,
  );
}
