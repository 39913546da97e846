import type { NowMs } from '../../shared/clock.ts';
import { randomToken, sha256Hex } from '../../shared/crypto/ids.ts';

/**
 * Codes of the app's web sign-in: valid for five minutes and one use (PLATFORM_FACTS.md wecom-web-sign-in). Kept in memory:
 * after a restart people must start again.
 */
export class WebSignInCodes {
  readonly #codes = new Map<string, { personId: string; untilMs: number }>();
  readonly #nowMs: NowMs;
  readonly #lifeMs: number;

  constructor(nowMs: NowMs, lifeMs: number) {
    this.#nowMs = nowMs;
    this.#lifeMs = lifeMs;
  }

  create(personId: string): string {
    for (const [hash, { untilMs }] of this.#codes) if (untilMs < this.#nowMs()) this.#codes.delete(hash);
    const code = randomToken();
    this.#codes.set(sha256Hex(code), { personId, untilMs: this.#nowMs() + this.#lifeMs });
    return code;
  }

  /** The person for a code, once. */
  take(code: string): string | undefined {
    const hash = sha256Hex(code);
    const found = this.#codes.get(hash);
    this.#codes.delete(hash);
    return found && this.#nowMs() <= found.untilMs ? found.personId : undefined;
  }
}

/** A request to the authorize address. */
export interface AuthorizeRequest {
  query: URLSearchParams;
  userAgent: string;
  /** The person of the in-app browser, known to the app itself; undefined for any other browser. */
  personId: string | undefined;
}

export interface AuthorizeRules {
  app: { corpId: string };
  /** Origins of the app's trusted domain: the bot's and the sign-in service's. The port counts. */
  trustedOrigins: readonly string[];
}

/** Redirect address (without the code), or the reason for a rejection. */
export type AuthorizeVerdict =
  { redirectUri: URL; state: string; personId: string } | { refused: 'not_in_app' | number };

const UNTRUSTED_DOMAIN = 50_001;
const BAD_APP_ID = 40_013;
const BAD_PARAMETER = 40_058;

/**
 * Validates a request to the authorize address (PLATFORM_FACTS.md wecom-web-sign-in). Pure; `snsapi_base` shows no consent
 * screen.
 */
export function judgeAuthorize(
  { query, userAgent, personId }: AuthorizeRequest,
  rules: AuthorizeRules,
): AuthorizeVerdict {
  if (!/wxwork\//i.test(userAgent) || personId === undefined) return { refused: 'not_in_app' };
  if (query.get('appid') !== rules.app.corpId) return { refused: BAD_APP_ID };
  // Both scopes are handled alike: the platform too treats an app that requests more without naming itself as snsapi_base.
  const isKnownScope = /^snsapi_(base|privateinfo)$/.test(query.get('scope') ?? '');
  const state = query.get('state') ?? '';
  if (query.get('response_type') !== 'code' || !isKnownScope || !/^[A-Za-z0-9]{0,128}$/.test(state)) {
    return { refused: BAD_PARAMETER };
  }
  const redirectUri = parseUrl(query.get('redirect_uri') ?? '');
  if (!redirectUri || !rules.trustedOrigins.includes(redirectUri.origin)) return { refused: UNTRUSTED_DOMAIN };
  return { redirectUri, state, personId };
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}
