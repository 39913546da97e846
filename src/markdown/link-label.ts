import type { SyntaxNode } from '@lezer/common';
import { compatibleForm } from '../base/plain-characters.ts';

/** Signs that a reader does not see. */
const UNSEEN_SIGNS = new Set(['EmphasisMark', 'CodeMark', 'StrikethroughMark']);
const HOST_LIKE = /(?:[\p{L}\p{N}][\p{L}\p{N}-]{0,62}\.){1,8}\p{L}{2,63}/giu;
/** `readme.md` and `app.ts` look like hosts, but are what people call files. */
const FILE_NAME = /^[^.]+\.(?:md|[mc]?[jt]sx?|json|ya?ml|txt|html?|css|csv|pdf|docx?|xlsx?|pptx?|png|jpe?g|svg)$/i;
const HARMLESS_ENTITY = /^&(?:amp|lt|gt|quot|nbsp);$/;

/**
 * Whether a link's label could be taken for another host than the link leads to (security.md 6.5): it names one, in whatever
 * letters, or holds an entity that we do not read.
 * @param label as a reader sees it; see `seenText`
 */
export function namesAnotherHost(label: string, url: URL): boolean {
  const plain = compatibleForm(label.replace(url.href, ''));
  if ((plain.match(/&[#\w]{1,32};/g) ?? []).some((entity) => !HARMLESS_ENTITY.test(entity))) return true;
  const hosts = plain.match(HOST_LIKE) ?? [];
  return hosts.some((host) => host.toLowerCase() !== url.hostname && !FILE_NAME.test(host));
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
