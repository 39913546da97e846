import type { SyntaxNode, SyntaxNodeRef, Tree } from '@lezer/common';
import { applyEdits, type Edit } from './edit-text.ts';
import { hasUserInfo, imageDescription, namesAnotherHost, renderedText } from './link-label.ts';
import { escapeTags, escapeTagsInCode } from './show-tags.ts';

/**
 * Maximum characters that the addresses of reference links may add to a text. Otherwise a short text with many references to
 * one long address would become very long. Later references are shown as text.
 */
const MAX_REFERENCE_CHARS = 20_000;

interface Reading {
  markdown: string;
  definitions: Definitions;
}

/** Link reference definitions: addresses by normalised label. */
class Definitions {
  readonly #addresses = new Map<string, string>();
  #roomChars = MAX_REFERENCE_CHARS;

  /** Adds a definition. The first one of a label counts. */
  add(label: string, address: string): void {
    const name = foldName(label);
    if (!this.#addresses.has(name)) this.#addresses.set(name, address);
  }

  /** The address for one more reference to a label; undefined if it is missing or the text would become too long. */
  addressFor(label: string): string | undefined {
    const address = this.#addresses.get(foldName(label));
    if (address === undefined) return undefined;
    this.#roomChars -= address.length;
    return this.#roomChars < 0 ? undefined : address;
  }
}

/** Code that is shown unchanged. Excludes indented code, because clients disagree about it. */
const CODE = new Set(['FencedCode', 'InlineCode']);
const HTML = new Set([
  'HTMLTag',
  'HTMLBlock',
  'Comment',
  'CommentBlock',
  'ProcessingInstruction',
  'ProcessingInstructionBlock',
]);
/** Start of markup that only a lenient client treats as a tag. */
const LOOSE_TAG = /<(?=[!?]|\s{0,8}(?:a\s|img|iframe|video|audio|svg|object|embed|script|style|link|form)\b)/gi;
const WHOLE_TAG =
  /<(?=\/?[A-Za-z][A-Za-z0-9-]{0,40}(?:\s{1,8}[A-Za-z_:][\w:.-]{0,40}(?:\s{0,8}=\s{0,8}(?:"[^"]{0,300}"|'[^']{0,300}'|[^\s"'=<>`]{1,300}))?){0,8}\s{0,8}\/?>)/g;
const TAG_LIKE = /<(?=\/?[A-Za-z][^<>]*>)/g;
const TAG_BEGIN = /<(?=[A-Za-z/!?])/g;
const LOOSE_DEFINITION = /^([ \t>*+\-\d.)]{0,40}\[[^\]]{1,300}\]):/gm;
/** The at sign after user info in an address. Clients also make links of bare addresses. */
const USER_INFO = /(:\/\/[^\s/?#<>@]{0,300})@/g;
const LOOSE_LINK = /(\[[^[\]\n]{0,300})?\](?=\(([^()\n]{0,2000}))/g;

/**
 * Makes links lead where they say (SECURITY.md honest-links). Only http and https links are kept; images become links with
 * their full address; a label that names another host is shown next to the address; reference links become inline links;
 * HTML is shown as text. All other text is unchanged. The result may contain new links, so this is repeated until nothing
 * changes (`writeSafely`).
 */
export function exposeLinkTargets(markdown: string, tree: Tree): string {
  const reading: Reading = { markdown, definitions: definitionsOf(markdown, tree) };
  const edits: Edit[] = [];
  tree.iterate({ enter: (node) => collect(node, reading, edits) });
  return applyEdits(markdown, edits, undefined, showLooseSigns);
}

/** @returns whether to visit the node's children */
function collect(node: SyntaxNodeRef, reading: Reading, edits: Edit[]): boolean {
  const { name, from, to } = node;
  const { markdown } = reading;
  if (CODE.has(name)) edits.push({ from, to, text: code(name, markdown.slice(from, to)) });
  else if (HTML.has(name)) edits.push({ from, to, text: html(node, markdown.slice(from, to)) });
  else if (name === 'CodeBlock')
    edits.push({ from, to, text: looseInCode(escapeTagsInCode(markdown.slice(from, to), TAG_LIKE)) });
  else if (name === 'Autolink') edits.push({ from, to, text: autolink(markdown.slice(from, to)) });
  else if (name === 'LinkReference') edits.push({ from, to, text: definition(node.node, markdown) });
  else if (name === 'Link' || name === 'Image') {
    const text = link(node.node, reading);
    if (text === undefined) {
      partReference(node.node, markdown, edits);
      return true;
    }
    edits.push({ from, to, text });
  } else return true;
  return false;
}

/** Clients disagree about where a paragraph ends, so they may not treat a code span of several lines as code. */
function code(name: string, written: string): string {
  return name === 'InlineCode' && written.includes('\n') ? looseInCode(escapeTagsInCode(written, WHOLE_TAG)) : written;
}

function showLooseSigns(prose: string): string {
  return looseInCode(escapeTags(prose, WHOLE_TAG));
}

/** @param written without tags that a client could interpret */
function looseInCode(written: string): string {
  return written
    .replace(LOOSE_TAG, '＜')
    .replace(LOOSE_DEFINITION, '$1：')
    .replace(USER_INFO, '$1＠')
    .replace(LOOSE_LINK, (whole: string, label: string | undefined, address: string) => {
      const origin = /^https?:\/\/[^/?#\s\\]*/i.exec(address)?.[0] ?? '';
      const isOpen = label !== undefined && URL.canParse(origin) && !namesAnotherHost(label, new URL(origin));
      return isOpen ? whole : `${label ?? ''}］`;
    });
}

/** @returns undefined if the node refers to a missing definition and is therefore not a link */
function link(node: SyntaxNode, reading: Reading): string | undefined {
  const { markdown } = reading;
  const [open, close] = node.getChildren('LinkMark');
  if (!open || !close) return undefined;
  const address = addressOf(node, { from: open.to - 1, to: close.to }, reading);
  if (address === undefined) return undefined;
  const label = labelOf(node, open.to, close.from, markdown);
  return showLink({
    isImage: node.name === 'Image',
    label,
    address,
    seen: renderedText(markdown, node, open.to, close.from),
  });
}

/** The inline address of a link, or that of its definition. @param label including its brackets */
function addressOf(
  node: SyntaxNode,
  label: { from: number; to: number },
  { markdown, definitions }: Reading,
): string | undefined {
  const own = node.getChildren('URL').find(({ from }) => from >= label.to);
  if (own) return withoutBrackets(markdown.slice(own.from, own.to));
  if (markdown[label.to] === '(' && node.to > label.to) return '';
  const reference = node.getChild('LinkLabel');
  const named = reference && definitions.addressFor(markdown.slice(reference.from, reference.to));
  return named ?? definitions.addressFor(markdown.slice(label.from, label.to));
}

/**
 * Separates the label of a missing reference. Clients treat it as prose, but the parser did not check it as such; after a
 * space, the next pass does. Labels without angle brackets (`grid[row][column]`) cannot contain a link or a tag.
 */
function partReference(node: SyntaxNode, markdown: string, edits: Edit[]): void {
  const name = node.getChild('LinkLabel');
  if (name && markdown.slice(name.from, name.to).includes('<'))
    edits.push({ from: name.from, to: name.from, text: ' ' });
}

interface Link {
  isImage: boolean;
  label: string;
  /** The label as rendered. */
  seen: string;
  address: string;
}

function showLink({ isImage, label, seen, address }: Link): string {
  // Clients parse escapes and entities in an address differently from this parser.
  const isClear = !/[\\\s[\]<>]|&(?!amp;)[#\w]{1,32};/.test(address);
  const isWeb = isClear && /^https?:\/\//i.test(address) && URL.canParse(address) && !hasUserInfo(new URL(address));
  if (!isWeb) return address === '' ? label : `${label} (${withoutUserInfo(address)})`;
  if (label === address) return `[${address}](${address})`;
  if (isImage) return `${label === '' ? '' : `${label}: `}[${address}](${address})`;
  return namesAnotherHost(seen, new URL(address)) ? `${label} ([${address}](${address}))` : `[${label}](${address})`;
}

/** A label with its content neutralised; images in it are replaced by their descriptions. */
function labelOf(node: SyntaxNode, from: number, to: number, markdown: string): string {
  const edits: Edit[] = [];
  node.cursor().iterate((inner) => {
    if (inner.from < from || inner.to > to) return true;
    if (inner.name === 'Image') {
      edits.push({ from: inner.from, to: inner.to, text: imageDescription(markdown, inner.node) });
      return false;
    }
    if (HTML.has(inner.name))
      edits.push({ from: inner.from, to: inner.to, text: html(inner, markdown.slice(inner.from, inner.to)) });
    return true;
  });
  return applyEdits(markdown, edits, { from, to });
}

const LINE_BREAK = /^<br\s{0,8}\/?>$/i;

/** Shows HTML as text; a line break tag becomes a line break. */
function html({ name, node }: SyntaxNodeRef, written: string): string {
  if (name === 'HTMLTag' && LINE_BREAK.test(written)) return node.parent?.name === 'TableCell' ? ' ' : '\n';
  return escapeTags(written, TAG_BEGIN);
}

function autolink(written: string): string {
  const shown = withoutUserInfo(written);
  return shown === written && /^<https?:[^<>\s|]*>$/i.test(written) ? written : withoutBrackets(shown);
}

/** Makes visible that user info in an address is not its host. Idempotent. */
function withoutUserInfo(text: string): string {
  return text.replace(USER_INFO, '$1＠');
}

/** Shows a link reference definition as text, because it is invisible and gives an address to a label elsewhere. */
function definition(node: SyntaxNode, markdown: string): string {
  const colon = node.getChild('LinkMark');
  if (!colon) return markdown.slice(node.from, node.to);
  return `${markdown.slice(node.from, colon.from)}：${markdown.slice(colon.to, node.to)}`;
}

function definitionsOf(markdown: string, tree: Tree): Definitions {
  const definitions = new Definitions();
  if (!markdown.includes(']:')) return definitions;
  tree.iterate({
    enter: ({ name, node }) => {
      if (name !== 'LinkReference') return name !== 'Paragraph';
      const label = node.getChild('LinkLabel');
      const address = node.getChild('URL');
      if (!label || !address) return false;
      definitions.add(
        markdown.slice(label.from, label.to),
        withoutBrackets(`<${withoutBrackets(markdown.slice(address.from, address.to))}>`),
      );
      return false;
    },
  });
  return definitions;
}

function foldName(name: string): string {
  return name.replace(/\s+/g, ' ').toLowerCase();
}

/** Angle brackets allow unbalanced parentheses in an address; without them the parentheses must be percent-encoded. */
function withoutBrackets(address: string): string {
  if (!/^<.*>$/s.test(address)) return address;
  return address.slice(1, -1).replaceAll('(', '%28').replaceAll(')', '%29');
}
