import { isIPv6 } from 'node:net';
import type { SyntaxNode } from '@lezer/common';
import { compatibleForm } from '../../../shared/text/sanitize-text.ts';

/** Markdown characters that are invisible when rendered. */
const UNSEEN_SIGNS = new Set(['EmphasisMark', 'CodeMark', 'StrikethroughMark']);
const HOST_LIKE = /(?:[\p{L}\p{N}][\p{L}\p{M}\p{N}-]{0,62}\.){1,8}\p{L}[\p{L}\p{M}]{1,62}/giu;
const IPV4_LIKE = /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])/g;
const IPV6_LIKE = /(?<![\w:])[\da-f]{0,4}(?::[\da-f]{0,4}){2,7}(?![\w:])/gi;
/** A complete address in a label must have the link's host, even if that host does not look like a domain name. */
const ADDRESS_LIKE = /[a-z][a-z\d+.-]{1,20}:\/\/[^\s<>"]{1,300}/gi;
/** Characters that host names treat as a dot (`apple。com`), in any position. */
const DOTS = /[\u3002\uff61]/g;
/**
 * Characters that only look like a dot. They also separate words and personal names, so they count only before Latin
 * letters.
 */
const DOT_LIKE = /[\u00b7\u0387\u05c5\u0660\u06d4\u06f0\u0701\u2022\u2027\u2219\u22c5\u30fb\ua4f8](?=[a-z]{2})/gi;
/** Names such as `app.ts` that look like a host but are file names; their endings are not domains. */
const FILE_NAME = /^[^.]+\.(?:[mc]?[jt]sx?|json|ya?ml|txt|html?|css|csv|pdf|docx?|xlsx?|pptx?|png|jpe?g|svg)$/i;
/** File names whose ending is also a country's domain. */
const FILE_OR_HOST = /^[^.]+\.md$/i;
/** Two Chinese sentences joined by a dot; no domain has such a long last part. */
const TWO_SENTENCES = /\.\p{Script=Han}{5,}$/u;
const HARMLESS_ENTITY = /^&(?:amp|lt|gt|quot|nbsp);$/;

/**
 * Whether a link's label could be mistaken for an address other than the link's target (SECURITY.md honest-links): it names
 * a host in any script, or an IP address, or contains an unknown entity.
 * @param label as rendered; see `seenText`
 */
export function namesAnotherHost(label: string, url: URL): boolean {
  const plain = compatibleForm(label.replace(url.href, '')).replace(DOTS, '.').replace(DOT_LIKE, '.');
  if ((plain.match(/&[#\w]{1,32};/g) ?? []).some((entity) => !HARMLESS_ENTITY.test(entity))) return true;
  const hosts = (plain.match(HOST_LIKE) ?? []).filter((host) => !TWO_SENTENCES.test(host));
  const named = [...hosts, ...(plain.match(IPV4_LIKE) ?? [])];
  return (
    named.some((host) => host.toLowerCase() !== url.hostname && !isFileOf(host, url)) ||
    (plain.match(IPV6_LIKE) ?? []).some((address) => isIPv6(address) && !isHostOf(`http://[${address}]`, url)) ||
    (plain.match(ADDRESS_LIKE) ?? []).some((address) => !isHostOf(address, url))
  );
}

/** A name that may be a file or a host counts as a file if the link leads to that file. */
function isFileOf(name: string, url: URL): boolean {
  return (
    FILE_NAME.test(name) || (FILE_OR_HOST.test(name) && url.pathname.toLowerCase().endsWith(`/${name.toLowerCase()}`))
  );
}

function isHostOf(address: string, { hostname }: URL): boolean {
  return URL.canParse(address) && new URL(address).hostname === hostname && !hasUserInfo(new URL(address));
}

/** Whether an address contains user info, which can look like the host (`https://bank.example@…`). */
export function hasUserInfo({ username, password }: URL): boolean {
  return username !== '' || password !== '';
}

/**
 * The rendered text of part of a node: without emphasis and code delimiters, with escapes resolved and images replaced by
 * their descriptions.
 */
export function renderedText(markdown: string, node: SyntaxNode, from: number, to: number): string {
  let seen = '';
  let at = from;
  node.cursor().iterate((inner) => {
    if (inner.from < at || inner.to > to) return true;
    const isEscape = inner.name === 'Escape';
    const isImage = inner.name === 'Image';
    if (!isEscape && !isImage && !UNSEEN_SIGNS.has(inner.name)) return true;
    seen += markdown.slice(at, inner.from) + (isEscape ? markdown.slice(inner.from + 1, inner.to) : '');
    if (isImage) seen += imageDescription(markdown, inner.node);
    at = inner.to;
    return false;
  });
  return seen + markdown.slice(at, to);
}

/** An image's description without characters that could form a link or an image. */
export function imageDescription(markdown: string, image: SyntaxNode): string {
  const [open, close] = image.getChildren('LinkMark');
  return open && close ? markdown.slice(open.to, close.from).replace(/[[\]!]/g, '') : '';
}
