import MarkdownIt, { type Env, type RendererRule, type Token } from 'markdown-it';
import { around, friendlyFlanking, isPunctuation } from '../../shared/text/emphasis-flanking.ts';
import { codeBlock, type PaintCode } from './code-block.ts';
import { addFormulas, type DrawFormula } from './formula-syntax.ts';
import { hostBeside, isAllowedLink, type IsInApp } from './links.ts';
import type { CutMentions } from './mentions.ts';
import { addTaskLists } from './task-lists.ts';

/** Page-specific options for rendering. */
export interface MarkdownOptions {
  isInApp: IsInApp;
  /** Accessible name of a code block's copy button (`data-copy`; the page handles the click). */
  copyLabel: string;
  cutMentions: CutMentions;
  /** Highlights code; absent until it is loaded. */
  paint?: PaintCode;
  /** Draws formulas; absent until it is loaded. */
  draw?: DrawFormula;
}

const markdown = new MarkdownIt({ html: false, linkify: true, breaks: true });
// Without a scheme, file names such as README.md would become links to Moldova.
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
markdown.validateLink = isAllowedLink;
const escape = markdown.utils.escapeHtml;
// Emphasis next to CJK punctuation, as models intend it.
markdown.inline.State = class extends markdown.inline.State {
  override scanDelims(start: number, canSplitWord: boolean) {
    const { length } = super.scanDelims(start, canSplitWord);
    const [before, after] = around(this.src.slice(0, this.posMax), start, start + length);
    const { left, right } = friendlyFlanking(before, after);
    return {
      can_open: left && (canSplitWord || !right || isPunctuation(before)),
      can_close: right && (canSplitWord || !left || isPunctuation(after)),
      length,
    };
  }
};

addFormulas(markdown);
addTaskLists(markdown);
markdown.renderer.rules['formula'] = formulaRule;
markdown.renderer.rules['formula_block'] = (...call) => `<p>${formulaRule(...call)}</p>`;
markdown.renderer.rules['fence'] = codeRule;
markdown.renderer.rules['code_block'] = codeRule;
// List items of the message log are messages; an answer's own lists must not be list items for assistive technology.
markdown.core.ruler.push('quiet_lists', ({ tokens }) => {
  for (const token of tokens) {
    if (token.type === 'bullet_list_open' || token.type === 'ordered_list_open') token.attrSet('role', 'group');
    if (token.type === 'list_item_open') token.attrSet('role', 'none');
  }
});
// The page's content policy forbids the style attributes with which the library aligns table columns.
markdown.core.ruler.push('aligned_cells', ({ tokens }) => {
  for (const token of tokens) {
    if (token.type !== 'th_open' && token.type !== 'td_open') continue;
    const [, side] = /^text-align:(left|center|right)$/.exec(String(token.attrGet('style') ?? '')) ?? [];
    token.attrs = side === undefined ? [] : [['class', `align-${side}`]];
  }
});
markdown.core.ruler.push('mentions', ({ tokens, env }) => {
  const options = optionsIn(env);
  if (options === undefined) return;
  for (const token of tokens) if (token.children) token.children = withMentions(token.children, options.cutMentions);
});
markdown.renderer.rules['mention'] = (tokens, index) =>
  `<span class="mention">${escape(tokens[index]?.content ?? '')}</span>`;
markdown.renderer.rules['table_open'] = () => '<div class="table-scroll" tabindex="0"><table>';
markdown.renderer.rules['table_close'] = () => '</table></div>';
markdown.renderer.rules['link_open'] = (tokens, index, _options, env) =>
  `<a ${linkAttributes(hrefOf(tokens[index]), wordsOfLink(tokens, index), env)}>`;
markdown.renderer.rules['image'] = imageRule;

/**
 * Renders markdown as a list of HTML blocks, one per top-level element, so that a growing text replaces only its last ones.
 * HTML in the text is escaped, and nothing is loaded from outside: images become links.
 */
export function renderBlocks(text: string, options: MarkdownOptions): string[] {
  const env = { page: options };
  const tokens = markdown.parse(text, env);
  const blocks: string[] = [];
  let start = 0;
  let depth = 0;
  tokens.forEach((token, index) => {
    depth += token.nesting;
    if (depth > 0) return;
    blocks.push(markdown.renderer.render(tokens.slice(start, index + 1), markdown.options, env));
    start = index + 1;
  });
  return blocks;
}

const PREVIEW_CHARS = 300;

/** Plain text of a markdown text on one line, for previews. */
export function plainPreview(text: string): string {
  return plainText(text.slice(0, PREVIEW_CHARS));
}

/** Plain text without markup, on one line. */
export function plainText(text: string): string {
  const words = markdown.parse(text, {}).flatMap((token) => {
    if (['fence', 'code_block', 'formula_block'].includes(token.type)) return [token.content];
    return token.children === null ? [] : [wordsOf(token.children)];
  });
  return words.join(' ').replace(/\s+/g, ' ').trim();
}

/** A part of a plain text: words, or a URL. */
export interface TextPiece {
  text: string;
  href?: string;
}

/** Splits a plain text (a person's message) at its URLs; joined, the parts are the original text. */
export function textPieces(text: string): TextPiece[] {
  const pieces: TextPiece[] = [];
  let from = 0;
  for (const match of markdown.linkify.match(text) ?? []) {
    if (!isAllowedLink(match.url)) continue;
    if (match.index > from) pieces.push({ text: text.slice(from, match.index) });
    pieces.push({ text: text.slice(match.index, match.lastIndex), href: match.url });
    from = match.lastIndex;
  }
  if (from < text.length) pieces.push({ text: text.slice(from) });
  return pieces;
}

function codeRule(...[tokens, index, , env]: Parameters<RendererRule>): string {
  const { content = '', info = '' } = tokens[index] ?? {};
  const options = optionsIn(env);
  const language = info.trim().split(/\s+/)[0] ?? '';
  const html = options?.paint?.(content, language);
  return codeBlock({ code: content, language, copyLabel: options?.copyLabel ?? '', html });
}

/** A formula, drawn or as its source. The class is what the page looks for before it loads the library. */
function formulaRule(...[tokens, index, , env]: Parameters<RendererRule>): string {
  const { content = '', markup = '', info = '', meta } = tokens[index] ?? {};
  const isDisplay = (meta as { isDisplay?: boolean } | null)?.isDisplay === true;
  const drawn = optionsIn(env)?.draw?.(content, isDisplay);
  return `<span class="${drawn === undefined ? 'formula' : 'drawn-formula'}">${drawn ?? escape(markup + content + info)}</span>`;
}

/** Extracts mentions from the text of a paragraph, but not from link texts. */
function withMentions(children: readonly Token[], cutMentions: CutMentions): Token[] {
  let depth = 0;
  return children.flatMap((child) => {
    depth += linkStep(child.type);
    if (depth > 0 || child.type !== 'text') return [child];
    return cutMentions(child.content).map(({ text, isMention }) => {
      const piece = new MarkdownIt.Token(isMention ? 'mention' : 'text', '', 0);
      piece.content = text;
      return piece;
    });
  });
}

/** Shows an image as a link to it; inside a link only as text. */
function imageRule(...[tokens, index, , env]: Parameters<RendererRule>): string {
  const token = tokens[index];
  const source = String(token?.attrGet('src') ?? '');
  const words = wordsOf(token?.children ?? []) || source;
  const linksBefore = tokens.slice(0, index).reduce((depth, { type }) => depth + linkStep(type), 0);
  if (linksBefore > 0) return escape(words);
  return `<a ${linkAttributes(source, words, env)}>${escape(words)}</a>`;
}

/** A link without a target, such as `[a]()`, gets no address and is not a link. */
function linkAttributes(href: string, words: string, env: Env | undefined): string {
  if (!isAllowedLink(href)) return '';
  const host = hostBeside(href, words);
  const shown = host === undefined ? '' : ` data-host="${escape(host)}"`;
  const way = optionsIn(env)?.isInApp(href) === true ? ' data-in-app' : ' target="_blank"';
  return `href="${escape(href)}" rel="noopener noreferrer"${shown}${way}`;
}

/** The library passes the argument of `renderBlocks` to rules untyped; a preview passes nothing. */
function optionsIn(env: Env | undefined): MarkdownOptions | undefined {
  return env?.['page'] as MarkdownOptions | undefined;
}

function hrefOf(token: Token | undefined): string {
  return String(token?.attrGet('href') ?? '');
}

function wordsOfLink(tokens: Token[], open: number): string {
  const close = tokens.findIndex((token, index) => index > open && token.type === 'link_close');
  return wordsOf(tokens.slice(open + 1, close < 0 ? undefined : close));
}

function wordsOf(tokens: readonly Token[]): string {
  return tokens.map((token) => (token.type.endsWith('break') ? ' ' : token.content)).join('');
}

function linkStep(type: string): number {
  return type === 'link_open' ? 1 : type === 'link_close' ? -1 : 0;
}
