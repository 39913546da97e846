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
