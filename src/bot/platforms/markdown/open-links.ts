import type { SyntaxNode, SyntaxNodeRef, Tree } from '@lezer/common';
import { applyEdits, type Edit } from './edit-text.ts';
import { hasUserInfo, imageDescription, namesAnotherHost, seenText } from './link-label.ts';
import { showTags, showTagsInCode } from './show-tags.ts';

/** What stands in another place of the text and gives links their addresses, by their folded names. */
type Definitions = ReadonlyMap<string, string>;

interface Reading {
  markdown: string;
  definitions: Definitions;
}

/** Code is shown as it is, but not indented code: clients disagree about that. */
const CODE = new Set(['FencedCode', 'InlineCode']);
const HTML = new Set([
  'HTMLTag',
  'HTMLBlock',
  'Comment',
  'CommentBlock',
  'ProcessingInstruction',
  'ProcessingInstructionBlock',
]);
/** What only a lenient client takes for a tag or a link. */
const LOOSE_TAG = /<(?=[!?]|\s{0,8}(?:a\s|img|iframe|video|audio|svg|object|embed|script|style|link|form)\b)/gi;
const WHOLE_TAG =
  /<(?=\/?[A-Za-z][A-Za-z0-9-]{0,40}(?:\s{1,8}[A-Za-z_:][\w:.-]{0,40}(?:\s{0,8}=\s{0,8}(?:"[^"]{0,300}"|'[^']{0,300}'|[^\s"'=<>`]{1,300}))?){0,8}\s{0,8}\/?>)/g;
const TAG_LIKE = /<(?=\/?[A-Za-z][^<>]*>)/g;
const TAG_BEGIN = /<(?=[A-Za-z/!?])/g;
const LOOSE_DEFINITION = /^([ \t>*+\-\d.)]{0,40}\[[^\]]{1,300}\]):/gm;
/** The sign behind a name in an address, before its host; clients make links of bare addresses too. */
const USER_INFO = /(:\/\/[^\s/?#<>@]{0,300})@/g;
const LOOSE_LINK = /(\[[^[\]\n]{0,300})?\](?=\(([^()\n]{0,2000}))/g;

/**
 * Writes markdown so that links lead where they say (SECURITY.md honest-links): only http and https, images become links with their
 * address in full, a label that names another host is put beside the address, addresses that stand elsewhere come to their
 * link, and HTML is shown as text. All else is written as it stands. What is left may read as a link in turn, so this is
 * repeated until nothing changes (`writeSafely`).
 */
export function openLinks(markdown: string, tree: Tree): string {
  const reading: Reading = { markdown, definitions: definitionsOf(markdown, tree) };
  const edits: Edit[] = [];
  tree.iterate({ enter: (node) => collect(node, reading, edits) });
  return applyEdits(markdown, edits, undefined, showLooseSigns);
}

/** @returns whether what lies inside is to be looked at */
function collect(node: SyntaxNodeRef, reading: Reading, edits: Edit[]): boolean {
  const { name, from, to } = node;
  const { markdown } = reading;
  if (CODE.has(name)) edits.push({ from, to, text: code(name, markdown.slice(from, to)) });
  else if (HTML.has(name)) edits.push({ from, to, text: html(node, markdown.slice(from, to)) });
  else if (name === 'CodeBlock')
    edits.push({ from, to, text: looseInCode(showTagsInCode(markdown.slice(from, to), TAG_LIKE)) });
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

/** Clients disagree about where a paragraph ends, so a code span of several lines may be none to them. */
function code(name: string, written: string): string {
  return name === 'InlineCode' && written.includes('\n') ? looseInCode(showTagsInCode(written, WHOLE_TAG)) : written;
}

function showLooseSigns(prose: string): string {
  return looseInCode(showTags(prose, WHOLE_TAG));
}

/** @param written without tags that a client could obey */
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

/** @returns undefined where the node is no link, since what it refers to is nowhere */
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
    seen: seenText(markdown, node, open.to, close.from),
  });
}

/** The address beside a label, or where the definition of its name stands. @param label with its brackets */
function addressOf(
  node: SyntaxNode,
  label: { from: number; to: number },
  { markdown, definitions }: Reading,
): string | undefined {
  const own = node.getChildren('URL').find(({ from }) => from >= label.to);
  if (own) return withoutBrackets(markdown.slice(own.from, own.to));
  if (markdown[label.to] === '(' && node.to > label.to) return '';
  const reference = node.getChild('LinkLabel');
  const named = reference && definitions.get(foldName(markdown.slice(reference.from, reference.to)));
  return named ?? definitions.get(foldName(markdown.slice(label.from, label.to)));
}

/**
 * The name of something that is nowhere is prose to clients, but was not read as such: behind a blank it is, by the next
 * reading. Names without angle brackets (`grid[row][column]`) hold nothing that could be a link or a tag.
 */
function partReference(node: SyntaxNode, markdown: string, edits: Edit[]): void {
  const name = node.getChild('LinkLabel');
  if (name && markdown.slice(name.from, name.to).includes('<'))
    edits.push({ from: name.from, to: name.from, text: ' ' });
}

interface Link {
  isImage: boolean;
  label: string;
  /** The label as a reader sees it. */
  seen: string;
  address: string;
}

function showLink({ isImage, label, seen, address }: Link): string {
  // Escapes and entities in an address are read differently by clients and by us.
  const isClear = !/[\\\s[\]<>]|&(?!amp;)[#\w]{1,32};/.test(address);
  const isWeb = isClear && /^https?:\/\//i.test(address) && URL.canParse(address) && !hasUserInfo(new URL(address));
  if (!isWeb) return address === '' ? label : `${label} (${withoutUserInfo(address)})`;
  if (label === address) return `[${address}](${address})`;
  if (isImage) return `${label === '' ? '' : `${label}: `}[${address}](${address})`;
  return namesAnotherHost(seen, new URL(address)) ? `${label} ([${address}](${address}))` : `[${label}](${address})`;
}

/** A label with what lies inside it written safely; an image in it is its description alone. */
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

/** HTML is shown, not obeyed; but a line's end is a line's end. */
function html({ name, node }: SyntaxNodeRef, written: string): string {
  if (name === 'HTMLTag' && LINE_BREAK.test(written)) return node.parent?.name === 'TableCell' ? ' ' : '\n';
  return showTags(written, TAG_BEGIN);
}

function autolink(written: string): string {
  const shown = withoutUserInfo(written);
  return shown === written && /^<https?:[^<>\s|]*>$/i.test(written) ? written : withoutBrackets(shown);
}

/** Shows that what stands before the host is no host. Doing it twice changes nothing more. */
function withoutUserInfo(text: string): string {
  return text.replace(USER_INFO, '$1＠');
}

/** A definition is seen by nobody, and gives an address to a label elsewhere: it is shown instead. */
function definition(node: SyntaxNode, markdown: string): string {
  const colon = node.getChild('LinkMark');
  if (!colon) return markdown.slice(node.from, node.to);
  return `${markdown.slice(node.from, colon.from)}：${markdown.slice(colon.to, node.to)}`;
}

function definitionsOf(markdown: string, tree: Tree): Definitions {
  const definitions = new Map<string, string>();
  if (!markdown.includes(']:')) return definitions;
  tree.iterate({
    enter: ({ name, node }) => {
      if (name !== 'LinkReference') return name !== 'Paragraph';
      const label = node.getChild('LinkLabel');
      const address = node.getChild('URL');
      if (!label || !address) return false;
      const key = foldName(markdown.slice(label.from, label.to));
      if (!definitions.has(key))
        definitions.set(key, withoutBrackets(`<${withoutBrackets(markdown.slice(address.from, address.to))}>`));
      return false;
    },
  });
  return definitions;
}

function foldName(name: string): string {
  return name.replace(/\s+/g, ' ').toLowerCase();
}

/** Brackets around an address allow for round ones in it that do not pair; without them these are written in their other form. */
function withoutBrackets(address: string): string {
  if (!/^<.*>$/s.test(address)) return address;
  return address.slice(1, -1).replaceAll('(', '%28').replaceAll(')', '%29');
}
