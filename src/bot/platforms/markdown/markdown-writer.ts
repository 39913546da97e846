import { stripInvisible } from '../../../shared/text/sanitize-text.ts';
import { neutraliseMentions } from './alter-marks.ts';
import { mayDiffer, parseCjkFriendly, separateEmphasis } from './cjk-emphasis.ts';
import { cutMarkdown } from './cut-markdown.ts';
import { cutText } from './cut-text.ts';
import type { Dialect } from './dialect.ts';
import { widenFences } from './nested-fences.ts';
import { isTooComplex, parseMarkdown } from './read-tree.ts';
import { withoutHtml } from './second-reading.ts';
import { SettledTextCache, type SettledText } from './settled-texts.ts';
import { settledEnd, shapeUnfinished } from './shape-unfinished.ts';
import { stripReasoning } from './strip-thoughts.ts';
import { withoutLinks, sanitizeMarkdown } from './write-safely.ts';

/**
 * Renders a model's markdown in one platform's dialect. The text is kept byte for byte, except for neutralised mentions,
 * links and HTML (SECURITY.md harmless-marks, honest-links).
 */
export interface MarkdownWriter {
  /** Renders a finished text, cut to the limit. Idempotent. @param maxBytes at least 128 of UTF-8 */
  renderFinished(text: string, maxBytes: number): string;
  /** Renders one snapshot of a growing text without flicker, cut to the limit. */
  renderGrowing(text: string, maxBytes: number): string;
  /** Splits a finished text into pieces that each fit and are each rendered as by `renderFinished`. Blank pieces are omitted. */
  split(text: string, maxBytes: number): string[];
  /** Like `split` for a text that cannot be parsed as markdown: neutralised plain text, cut anywhere. */
  splitPlain(text: string, maxBytes: number): string[];
  /** Registers pieces of a finished text that another writer rendered, so that they are not parsed again. */
  cachePieces(text: string, pieces: readonly string[]): void;
}

/** Matches any text with mentions, links, markdown or invisible characters. Any other text is shown unchanged. */
const NOT_PLAIN =
  /[^\t\n\r\x20-\x7e\u00a0-\u00ac\u00ae-\u02ff\u0370-\u03ff\u0400-\u052f\u2010-\u2027\u3000-\u30ff\u4e00-\u9fff\uff01-\uff5e]|[@<&[\]|`*_~\\$]|^[ \t>]*(?:[-=+#>]|\d{1,9}[.)]?)[-=+# \t]*$/m;
/** End of a growing text that may begin an image, or the indentation of a block. */
const MAY_BECOME_MARKUP = /!$|(?<![^\n])[ \t]+$/;
/** Size factor for cutting a piece again that grew when it was rendered. */
const SHRINK_FACTOR = 0.9;
const MAX_ATTEMPTS = 6;
const MIN_BYTES = 128;
const MARK_BYTES = 64;
/** Extra characters to read, for bytes added by neutralising and for context that a cut needs. */
const MARGIN_CHARS = 1_024;
/** Number of snapshot lengths to read of a growing text that contains reasoning, because the reasoning is removed. */
const LOOKS_READ = 2;
const THOUGHT_BEGINS = /<\s{0,8}think/i;

/** @param dialect of the platform */
export function createMarkdownWriter(dialect: Dialect): MarkdownWriter {
  const settledTexts = new SettledTextCache();
  const snapshotCache = new SettledTextCache();

  const clean = (text: string, isFinished: boolean): string => {
    const widened = widenFences(stripInvisible(withPlainEnds(text)), {
      isFinished,
      isAlways: dialect.unfinished === 'hold',
    });
    return neutraliseMentions(stripReasoning(widened, isFinished), dialect);
  };
  const safely = (markdown: string): string => separateEmphasis(sanitizeMarkdown(markdown, dialect));

  function* fittingPieces(markdown: string, maxBytes: number, attempt = 1): Generator<string> {
    if (Buffer.byteLength(markdown) <= maxBytes) yield markdown;
    else if (attempt > MAX_ATTEMPTS) yield* cutText(withoutLinks(markdown, dialect), maxBytes);
    else
      for (const piece of cutMarkdown(markdown, maxBytes)) {
        const written = withoutHtml(safely(neutraliseMentions(piece, dialect)));
        if (Buffer.byteLength(written) <= maxBytes) yield written;
        else yield* fittingPieces(written, Math.max(MIN_BYTES, Math.floor(maxBytes * SHRINK_FACTOR)), attempt + 1);
      }
  }

  /** Caches the snapshot of a text that exceeds the limit: the text keeps growing, but its snapshot stays the same. */
  function fitting(source: string, maxBytes: number, write: (markdown: string) => string): string {
    const full = snapshotCache.of(source);
    if (full.source === source && Buffer.byteLength(full.shown) <= maxBytes) return full.shown;
    const written = write(source);
    if (Buffer.byteLength(written) <= maxBytes) return written;
    const [shown = ''] = fittingPieces(written, maxBytes);
    snapshotCache.remember({ source, shown });
    return shown;
  }

  /** Without a cache if the text may contain link definitions, because they can change earlier text. */
  const settledOf = (markdown: string): SettledText =>
    markdown.includes(']:') ? { source: '', shown: '' } : settledTexts.of(markdown);

  function renderComplete(markdown: string): string {
    const settled = settledOf(markdown);
    settledTexts.forget(markdown);
    return withoutHtml(settled.shown + safely(markdown.slice(settled.source.length)));
  }

  /** Each piece is rendered again before it is shown; remembering it avoids parsing it again. */
  function remember(pieces: readonly string[]): void {
    for (const piece of pieces) snapshotCache.remember({ source: piece, shown: piece });
  }

  function renderSnapshot(markdown: string): string {
    const settled = settledOf(markdown);
    const tail = markdown.slice(settled.source.length);
    if (isTooComplex(tail)) return settled.shown + safely(tail);
    const tree = mayDiffer(tail) ? parseCjkFriendly(tail) : parseMarkdown(tail);
    const { end, closing } = shapeUnfinished(tail, tree, dialect.unfinished);
    const newlySettled = tail.slice(0, Math.min(settledEnd(tail, tree), end));
    // Settled text is checked by the second parser as a whole, once per block; the growing text is checked separately.
    const shown = newlySettled === '' ? settled.shown : withoutHtml(settled.shown + safely(newlySettled));
    if (newlySettled !== '' && !markdown.includes(']:')) {
      settledTexts.remember({ source: settled.source + newlySettled, shown });
    }
    // Text that is closed for this snapshot may parse differently from the open text.
    const open = safely(neutraliseMentions(tail.slice(newlySettled.length, end), dialect)) + closing;
    return shown + withoutHtml(separateEmphasis(open));
  }

  return {
    renderFinished(text, maxBytes) {
      const [source, write] = isPlain(text) ? [text, asItIs] : [clean(text, true), renderComplete];
      const written = fitting(source, maxBytes, write);
      // Frees the cached text of an answer that has ended.
      snapshotCache.forget(source);
      return written;
    },
    renderGrowing(text, maxBytes) {
      // Reads only as much as a snapshot can hold, regardless of the text's length.
      const maxChars = maxBytes + MARGIN_CHARS;
      const head = text.slice(0, maxChars);
      if (isPlain(head) && !MAY_BECOME_MARKUP.test(head)) return fitting(head, maxBytes, asItIs);
      const read = THOUGHT_BEGINS.test(head) ? text.slice(0, LOOKS_READ * maxChars) : head;
      return fitting(clean(read, false).slice(0, maxChars), maxBytes, renderSnapshot);
    },
    split(text, maxBytes) {
      snapshotCache.forget(text);
      const all = fittingPieces(isPlain(text) ? text : renderComplete(clean(text, true)), maxBytes);
      const pieces = withoutBlank([...all]);
      remember(pieces);
      return pieces;
    },
    splitPlain(text, maxBytes) {
      const plain = withoutLinks(
        neutraliseMentions(stripReasoning(stripInvisible(withPlainEnds(text)), true, 'as words'), dialect),
        dialect,
      );
      // Cutting can expose a mention again; neutralising it takes two bytes.
      const all = [...cutText(plain, maxBytes - MARK_BYTES)].map((piece) => withoutLinks(piece, dialect));
      return withoutBlank(all);
    },
    cachePieces(text, pieces) {
      const head = clean(text.slice(0, MARGIN_CHARS), false);
      snapshotCache.forget(head);
      settledTexts.forget(head);
      remember(pieces);
    },
  };
}

/**
 * Some apps treat a lone carriage return as a line end. The parser does not, and could treat text as code that the app does
 * not.
 */
function withPlainEnds(text: string): string {
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
}

const asItIs = (plain: string): string => plain;

function withoutBlank(pieces: string[]): string[] {
  return pieces.length === 1 ? pieces : pieces.filter((piece) => piece.trim() !== '');
}

function isPlain(text: string): boolean {
  return !NOT_PLAIN.test(text);
}
