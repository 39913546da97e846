import { z } from 'zod';
import { isTimeZone } from '../../shared/local-time.ts';

/** Parses the value of one setting. The error describes a valid value and never repeats the given one. */
export type Kind<T> = z.ZodType<T, string>;

const KEY_BYTES = 32;
const MAX_WORDS_CHARS = 100;
const LOOPBACK = /^(localhost|\[::1\]|127(\.\d{1,3}){3})$/;

/**
 * Creates a kind from a rule, which follows the setting's name in errors, and a reader that returns undefined for an invalid
 * value.
 */
function kind<T>(rule: string, read: (text: string) => T | undefined): Kind<T> {
  return z.string().transform((text, context) => {
    const value = read(text.trim());
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message: rule });
    return z.NEVER;
  });
}

/** A time zone known to this Node.js. */
export const timeZone = kind('must be the IANA name of a time zone such as Asia/Shanghai', (given) =>
  isTimeZone(given) ? given : undefined,
);

/** Any text on one line. */
export const text = kind('must be one line of text', (given) => (/^[^\p{Cc}]+$/u.test(given) ? given : undefined));

/** A text that matches a pattern; `rule` describes the pattern. */
export function textLike(pattern: RegExp, rule: string): Kind<string> {
  return kind(rule, (given) => (pattern.test(given) ? given : undefined));
}

export function wholeNumber(least: number, most: number): Kind<number> {
  return kind(`must be a whole number from ${least} to ${most}`, (given) => {
    const value = /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN;
    return value >= least && value <= most ? value : undefined;
  });
}

export function oneOf<const Word extends string>(...words: readonly Word[]): Kind<Word> {
  return kind(`must be ${inWords(words)}`, (given) => words.find((word) => word === given));
}

/** Compared, never looked up: every object has a `constructor`, and freezing `__proto__` would freeze all of them. */
export const yesOrNo = kind('must be yes or no (true, false, on, off, 1 and 0 are accepted too)', (given) => {
  const word = given.toLowerCase();
  if (['yes', 'true', 'on', '1'].includes(word)) return true;
  return ['no', 'false', 'off', '0'].includes(word) ? false : undefined;
});

/** Words to show, or `yes` for the default words and `no` for none. */
export const wordsOrNot = kind(`must be yes, no or one line of at most ${MAX_WORDS_CHARS} characters`, (given) => {
  const chosen = yesOrNo.safeParse(given);
  if (chosen.success) return chosen.data ? ('default' as const) : ('none' as const);
  return text.safeParse(given).success && given.length <= MAX_WORDS_CHARS ? { words: given } : undefined;
});

/** A proxy: a URL, or host and port alone, as other programs accept it too. */
export const proxyAddress = kind('must be the address of a proxy such as http://proxy.example.org:3128', (given) => {
  const url = readUrl(given.includes('://') ? given : `http://${given}`, ['http:', 'https:']);
  return url && url.hostname !== '' && url.pathname === '/' && !url.search && !url.hash ? url.href : undefined;
});

/** Comma-separated. Spaces around the parts are ignored, and duplicates are removed. */
export function listOf<T>(part: Kind<T>, partRule: string): Kind<readonly T[]> {
  return kind(`must be a comma-separated list of ${partRule}`, (given) => {
    const parts = given.split(',').map((piece) => part.safeParse(piece));
    const values = parts.flatMap((read) => (read.success ? [read.data] : []));
    return values.length === parts.length ? [...new Set(values)] : undefined;
  });
}

export function listOfWords<const Word extends string>(...words: readonly Word[]): Kind<readonly Word[]> {
  return listOf(oneOf(...words), inWords(words));
}

/** Comma-separated `name=value` pairs. */
export const pairs = kind('must be a comma-separated list of name=value', (given) => {
  const read = given.split(',').map((pair) => /^\s*([^=\s]+)\s*=\s*(\S+)\s*$/.exec(pair));
  if (!read.every((match) => match !== null)) return undefined;
  return Object.freeze(Object.fromEntries(read.map((match) => [match[1] as string, match[2] as string])));
});

/** A web address without a trailing slash. Plain http would expose keys and tokens to the network. */
export const webAddress = kind(
  'must be an https address (http only for this machine) without user, query or fragment',
  (given) => {
    const url = readUrl(given, ['https:', 'http:']);
    if (!url || url.username || url.password || url.search || url.hash) return undefined;
    if (url.protocol === 'http:' && !isLoopback(url.hostname)) return undefined;
    return url.href.replace(/(?<!\/)\/+$/, '');
  },
);

/** An address inside the institution's network, where http is usual, without a trailing slash. */
export const insideAddress = kind('must be an http or https address without user, query or fragment', (given) => {
  const url = readUrl(given, ['https:', 'http:']);
  if (!url || url.username || url.password || url.search || url.hash) return undefined;
  return url.href.replace(/(?<!\/)\/+$/, '');
});

/** A share, such as 0.1 for a tenth. Kept as written. */
export const share = textLike(/^(0(\.\d{1,9})?|1(\.0{1,9})?)$/, 'must be a number from 0 to 1');

/** A WebSocket address without a trailing slash. */
export const socketAddress = kind(
  'must be a wss address (ws only for this machine) without user, query or fragment',
  (given) => {
    if (!/^wss?:/i.test(given)) return undefined;
    const asWeb = webAddress.safeParse(given.replace(/^ws/i, 'http'));
    return asWeb.success ? asWeb.data.replace(/^http/, 'ws') : undefined;
  },
);

/** An OpenID Connect issuer: a web address that is kept as written, because it is compared exactly. */
export const issuerAddress = kind(
  'must be an https address (http only for this machine) without user, query or fragment',
  (given) => (webAddress.safeParse(given).success ? given : undefined),
);

/** Space-separated scopes of an OpenID Connect request. */
export const oidcScope = kind('must be space-separated scopes, openid among them', (given) => {
  const scopes = given.split(/ +/);
  return scopes.includes('openid') && scopes.every((scope) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope))
    ? scopes.join(' ')
    : undefined;
});

/**
 * The address at which browsers reach Parley, as an origin. Browsers drop `__Host-` cookies on plain http except for these
 * three hosts.
 */
export const publicOrigin = kind(
  'must be an https address without a path (http only for 127.0.0.1, [::1] and localhost)',
  (given) => {
    const url = readUrl(given, ['https:', 'http:']);
    if (!url || url.username || url.password || url.pathname !== '/' || url.search || url.hash) return undefined;
    const isOurs = ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname);
    return url.protocol === 'https:' || isOurs ? url.origin : undefined;
  },
);

/** Address of a help page or a mailbox. */
export const helpAddress = kind(
  'must be an https or mailto address',
  (given) => readUrl(given, ['https:', 'mailto:'])?.href,
);

/** One Redis address. Several, comma-separated, mean a cluster or sentinels. */
export const redisAddress = kind('must be a redis:// or rediss:// address', (given) => {
  const url = readUrl(given, ['redis:', 'rediss:', 'unix:']);
  return url && (url.hostname || url.protocol === 'unix:') ? given : undefined;
});

/** A key of exactly 32 bytes (SECURITY.md sealed-records). */
export const secretKey = kind(
  'must be exactly 32 bytes in base64; create one with: openssl rand -base64 32',
  (given) => {
    if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(given)) return undefined;
    const key = Buffer.from(given, 'base64');
    return key.length === KEY_BYTES ? key : undefined;
  },
);

/** How `same-id` compares ids (SECURITY.md proof-of-person): `field=id;prefix=;case=exact`. */
export interface SameIdRule {
  /** `id`, or the name of a profile attribute. */
  readonly field: string;
  /** Precedes the field's value in the platform's user id. */
  readonly prefix: string;
  readonly ignoreCase: boolean;
}

export const sameIdRule = kind(
  'must look like field=id;prefix=;case=exact: the field is id or attributes.NAME, the case exact or ignore',
  (given): SameIdRule | undefined => {
    const match = /^field=(id|attributes\.(\w+))(?:;prefix=([^;\s]*))?(?:;case=(exact|ignore))?$/.exec(given);
    return match ? { field: match[2] ?? 'id', prefix: match[3] ?? '', ignoreCase: match[4] === 'ignore' } : undefined;
  },
);

const PROOFS = ['same-browser', 'same-id', 'typed-code'] as const;
type ProofWord = (typeof PROOFS)[number];

/** Proofs of identity: the same for all platforms, or per platform. */
export type ProofSetting =
  { readonly everywhere: readonly ProofWord[] } | { readonly by: Readonly<Record<string, readonly ProofWord[]>> };

/** `same-browser,same-id` for all platforms, or `wecom:same-browser,slack:same-id+same-browser`. */
export const proofSetting = kind(
  'must be same-browser, same-id or typed-code, or a proof for each platform such as wecom:same-browser,slack:same-id',
  (given): ProofSetting | undefined => {
    const everywhere = listOfWords(...PROOFS).safeParse(given);
    if (everywhere.success) return { everywhere: everywhere.data };
    const read = given.split(',').map((part) => /^([a-z]+)\s*:([a-z+ -]+)$/.exec(part.trim()));
    const by = new Map<string, readonly ProofWord[]>();
    for (const match of read) {
      const words = listOfWords(...PROOFS).safeParse((match?.[2] ?? '').replaceAll('+', ','));
      const name = match?.[1] ?? '';
      if (!words.success || by.has(name)) return undefined;
      by.set(name, words.data);
    }
    return { by: Object.freeze(Object.fromEntries(by)) };
  },
);

/** Whether an address ends in a version such as /v1, as chat interfaces do. */
export function hasVersion(address: string): boolean {
  return /\/v\d+$/.test(address);
}

/** Whether a URL's host name refers to this machine. */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}

function readUrl(given: string, protocols: readonly string[]): URL | undefined {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  return url && protocols.includes(url.protocol) ? url : undefined;
}

function inWords(words: readonly string[]): string {
  return words.length === 1 ? String(words[0]) : `${words.slice(0, -1).join(', ')} or ${String(words.at(-1))}`;
}
