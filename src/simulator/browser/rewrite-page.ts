import type { IncomingHttpHeaders } from 'node:http';
import type { FrameAddresses } from './frame-address.ts';

/**
 * A start tag with its attributes; quoted values may contain `>`. Also matches a tag without an end, so that no text is
 * scanned twice.
 */
const START_TAG = /<[a-z](?:[^<>"']|"[^"]*"|'[^']*')*>?/gi;
const LINK_ATTRIBUTE = /(\s(?:href|src|action|formaction)\s*=\s*)("[^"]*"|'[^']*')/gi;
const TARGET_ATTRIBUTE = /\starget\s*=\s*("[^"]*"|'[^']*'|[^\s>]+)/gi;
const REFRESH = /^<meta\b[^>]*http-equiv\s*=\s*["']?refresh/i;
const REFRESH_CONTENT = /(content\s*=\s*["']\s*\d+\s*;\s*url=)([^"']+)/i;

export interface RewriteOptions {
  addresses: FrameAddresses;
  /** The page's origin. */
  pageUrl: URL;
}

/** Rewrites a page's absolute links, forms and images to the frame's listener; relative ones work unchanged. */
export function rewriteHtml(page: string, options: RewriteOptions): string {
  return page.replace(START_TAG, (tag) => {
    if (!tag.endsWith('>')) return tag;
    const linked = tag
      .replace(LINK_ATTRIBUTE, (_whole, name: string, quoted: string) => name + rewriteQuoted(quoted, options))
      // A second window would leave the frame, and with it the person's cookies.
      .replace(TARGET_ATTRIBUTE, '');
    if (!REFRESH.test(linked)) return linked;
    return linked.replace(
      REFRESH_CONTENT,
      (_whole, start: string, url: string) => start + rewriteAddress(url, options),
    );
  });
}

function rewriteQuoted(quoted: string, options: RewriteOptions): string {
  const quote = quoted.charAt(0);
  return quote + rewriteAddress(quoted.slice(1, -1), options) + quote;
}

function rewriteAddress(escaped: string, { addresses, pageUrl }: RewriteOptions): string {
  const address = escaped.replaceAll('&#38;', '&').replaceAll('&amp;', '&').trim();
  // Links into the app itself navigate back to the chat.
  if (/^slack:\/\//i.test(address)) return addresses.back;
  if (!/^(https?:)?\/\//i.test(address) || !URL.canParse(address, pageUrl.href)) return escaped;
  return addresses
    .pathOf(new URL(address, pageUrl), pageUrl.origin)
    .replaceAll('&', '&amp;')
    .replaceAll('"', '%22')
    .replaceAll("'", '%27');
}

/** Headers that belong to one connection, prevent framing, or tie the page to its own origin. */
const DROPPED = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'content-encoding',
  'set-cookie',
  'location',
  'x-frame-options',
  'strict-transport-security',
  'cross-origin-opener-policy',
  'cross-origin-embedder-policy',
  'cross-origin-resource-policy',
  'clear-site-data',
  'cache-control',
  'etag',
  'last-modified',
]);

/** Headers with which a page's response is passed to the frame. @param frameAncestor the only origin that may frame it */
export function rewriteHeaders(headers: IncomingHttpHeaders, frameAncestor: string): Record<string, string> {
  const kept = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined || DROPPED.has(name) ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
  );
  const rewritten: Record<string, string> = Object.fromEntries(kept);
  rewritten['content-security-policy'] = rewritePolicy(rewritten['content-security-policy'] ?? '', frameAncestor);
  rewritten['cache-control'] = 'no-store';
  return rewritten;
}

function rewritePolicy(policy: string, frameAncestor: string): string {
  const directives = policy.split(';').map((directive) => directive.trim());
  const kept = directives.filter(
    (directive) => directive !== '' && !/^(frame-ancestors|sandbox|upgrade-insecure-requests|report-)/i.test(directive),
  );
  // Forms post to the listener; this browser's list of origins decides on their further targets.
  const pointed = kept.map((directive) => (/^form-action\s/i.test(directive) ? "form-action 'self'" : directive));
  return [...pointed, `frame-ancestors ${frameAncestor}`].join('; ');
}
