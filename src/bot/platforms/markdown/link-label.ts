import { isIPv6 } from 'node:net';
import type { SyntaxNode } from '@lezer/common';
import { compatibleForm } from '../../../shared/text/sanitize-text.ts';

/** Signs that a reader does not see. */
const UNSEEN_SIGNS = new Set(['EmphasisMark', 'CodeMark', 'StrikethroughMark']);
const HOST_LIKE = /(?:[\p{L}\p{N}][\p{L}\p{M}\p{N}-]{0,62}\.){1,8}\p{L}[\p{L}\p{M}]{1,62}/giu;
const IPV4_LIKE = /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])/g;
const IPV6_LIKE = /(?<![\w:])[\da-f]{0,4}(?::[\da-f]{0,4}){2,7}(?![\w:])/gi;
/** A label that holds a whole address says where it leads, whatever its host looks like. */
const ADDRESS_LIKE = /[a-z][a-z\d+.-]{1,20}:\/\/[^\s<>"]{1,300}/gi;
/** What the names of hosts take for a dot (`apple。com`), in any place. */
const DOTS = /[\u3002\uff61]/g;
/** What only looks like one; it also parts words and people's names, so that it counts before Latin letters alone. */
const DOT_LIKE = /[\u00b7\u0387\u05c5\u0660\u06d4\u06f0\u0701\u2022\u2027\u2219\u22c5\u30fb\ua4f8](?=[a-z]{2})/gi;
/** `app.ts` looks like a host, but is what people call a file, and ends in no domain that there is. */
const FILE_NAME = /^[^.]+\.(?:[mc]?[jt]sx?|json|ya?ml|txt|html?|css|csv|pdf|docx?|xlsx?|pptx?|png|jpe?g|svg)$/i;
/** What people call files, but ends in a country's domain. */
const FILE_OR_HOST = /^[^.]+\.md$/i;
/** Where a Chinese sentence ends and the next begins; no domain has a last part so long. */
const TWO_SENTENCES = /\.\p{Script=Han}{5,}$/u;
const HARMLESS_ENTITY = /^&(?:amp|lt|gt|quot|nbsp);$/;

/**
 * Whether a link's label could be taken for another address than the link leads to (SECURITY.md honest-links): it names a host, in
 * whatever letters, or an IP address, or holds an entity that we do not read.
 * @param label as a reader sees it; see `seenText`
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

/** A name that may be a host's too is a file's where the link leads to such a file. */
function isFileOf(name: string, url: URL): boolean {
  return (
    FILE_NAME.test(name) || (FILE_OR_HOST.test(name) && url.pathname.toLowerCase().endsWith(`/${name.toLowerCase()}`))
  );
}

function isHostOf(address: string, { hostname }: URL): boolean {
  return URL.canParse(address) && new URL(address).hostname === hostname && !hasUserInfo(new URL(address));
}

/** Whether an address begins with somebody's name, which can look like the host (`https://bank.example@…`). */
export function hasUserInfo({ username, password }: URL): boolean {
  return username !== '' || password !== '';
}

/**
 * What a reader sees of part of a node: without the signs of emphasis and code, escapes taken as what they stand for, and
 * of an image its description.
 */
export function seenText(markdown: string, node: SyntaxNode, from: number, to: number): string {
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

/** An image's description without signs that could make a link or an image of it. */
export function imageDescription(markdown: string, image: SyntaxNode): string {
  const [open, close] = image.getChildren('LinkMark');
  return open && close ? markdown.slice(open.to, close.from).replace(/[[\]!]/g, '') : '';
}
