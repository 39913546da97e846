import MarkdownIt, { type Token } from 'markdown-it';
import { isTooIntricate } from './read-tree.ts';

/** An independent reader of CommonMark that obeys HTML and follows every address. */
const reader = new MarkdownIt({ html: true });
reader.validateLink = () => true;
/** HTML begins so for every reader, unless a backslash escapes the sign; texts without it are not read again. */
const MAY_BE_HTML = /(?<!\\)(?:\\\\){0,64}<[A-Za-z/!?]/;
const TAG_SIGN = /<(?=[A-Za-z/!?])/g;
/** One reading mends what it finds, and what that lays bare is mended by the next. */
const MAX_READINGS = 4;

/**
 * Reads a text that is about to be shown a second time, by another parser: where two readers disagree about what is code, a client may find HTML
 * or an address in angle brackets that ours did not (SECURITY.md two-readings). Such brackets are altered in those lines. Doing it twice changes nothing more.
 */
export function withoutHtml(markdown: string): string {
  let shown = markdown;
  for (let reading = 0; MAY_BE_HTML.test(shown); reading += 1) {
    if (reading === MAX_READINGS || isTooIntricate(shown)) return shown.replace(TAG_SIGN, '＜');
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

/** Addresses of the web lead where they say. */
function isHiddenAddress(token: Token): boolean {
  return (
    token.markup === 'autolink' && token.type === 'link_open' && !/^https?:/i.test(String(token.attrGet('href') ?? ''))
  );
}
