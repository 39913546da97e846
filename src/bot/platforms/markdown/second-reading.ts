import MarkdownIt, { type Token } from 'markdown-it';
import { isTooComplex } from './read-tree.ts';

/** An independent CommonMark parser that accepts HTML and all addresses. */
const reader = new MarkdownIt({ html: true });
reader.validateLink = () => true;
/** Possible start of HTML for any parser. Texts without a match are not checked again. */
const MAY_BE_HTML = /(?<!\\)(?:\\\\){0,64}<[A-Za-z/!?]/;
const TAG_SIGN = /<(?=[A-Za-z/!?])/g;
/** Maximum passes. Each pass repairs what it finds, which may expose more for the next pass. */
const MAX_PASSES = 4;

/**
 * Checks a text that is about to be shown with a second parser. If two parsers disagree about what is code, a client may
 * find HTML or an autolink that the first parser did not (SECURITY.md two-readings). Angle brackets in the affected lines
 * are neutralised. Idempotent.
 */
export function withoutHtml(markdown: string): string {
  let shown = markdown;
  for (let reading = 0; MAY_BE_HTML.test(shown); reading += 1) {
    if (reading === MAX_PASSES || isTooComplex(shown)) return shown.replace(TAG_SIGN, '＜');
    const ranges = reader
      .parse(shown, {})
      .filter(hasHtml)
      .map(({ map }) => map ?? [0, Number.POSITIVE_INFINITY]);
    if (ranges.length === 0) break;
    const lines = shown.split('\n');
    for (const [from = 0, to = 0] of ranges)
      for (let at = from; at < Math.min(to, lines.length); at += 1)
        lines[at] = (lines[at] ?? '').replace(TAG_SIGN, '＜');
    shown = lines.join('\n');
  }
  return shown;
}

function hasHtml({ type, children }: Token): boolean {
  return (
    type === 'html_block' || (children ?? []).some((child) => child.type === 'html_inline' || isHiddenAddress(child))
  );
}

/** Whether an autolink has a scheme other than http or https. Web autolinks show their target. */
function isHiddenAddress(token: Token): boolean {
  return (
    token.markup === 'autolink' && token.type === 'link_open' && !/^https?:/i.test(String(token.attrGet('href') ?? ''))
  );
}
