import { withoutUnseen } from '../../../shared/text/sanitize-text.ts';
import { alterMarks } from './alter-marks.ts';
import { mayDiffer, readFriendly, separateEmphasis } from './cjk-emphasis.ts';
import { cutMarkdown } from './cut-markdown.ts';
import { cutText } from './cut-text.ts';
import type { Dialect } from './dialect.ts';
import { widenFences } from './nested-fences.ts';
import { isTooIntricate, readTree } from './read-tree.ts';
import { withoutHtml } from './second-reading.ts';
import { SettledTexts, type SettledText } from './settled-texts.ts';
import { settledEnd, shapeUnfinished } from './shape-unfinished.ts';
import { withoutThoughts } from './strip-thoughts.ts';
import { withoutLinks, writeSafely } from './write-safely.ts';

/** Writes a model's markdown in one platform's dialect: the text itself, byte for byte, but for what would harm (SECURITY.md harmless-marks, honest-links). */
export interface MarkdownWriter {
  /** As much of a finished text as fits. Writing it again changes nothing. @param maxBytes at least 128 of UTF-8 */
  finished(text: string, maxBytes: number): string;
  /** One snapshot of a text that still grows: shaped so that nothing flickers, as much as fits. */
  growing(text: string, maxBytes: number): string;
  /** A finished text in pieces that each fit and are each as `finished` would write them. Blank ones are left out. */
  pieces(text: string, maxBytes: number): string[];
  /** The same for a text that cannot be read as markdown: as plain text with nothing in it that would harm, cut anywhere. */
  plainPieces(text: string, maxBytes: number): string[];
  /** Takes pieces of a finished text that another writer made as its own, so that none of them is read once more. */
  knowPieces(text: string, pieces: readonly string[]): void;
}

/** None of these: no mark, link or sign of markdown, nothing unseen. Such a text is shown as it is. */
const NOT_PLAIN =
  /[^\t\n\r\x20-\x7e\u00a0-\u00ac\u00ae-\u02ff\u0370-\u03ff\u0400-\u052f\u2010-\u2027\u3000-\u30ff\u4e00-\u9fff\uff01-\uff5e]|[@<&[\]|`*_~\\$]|^[ \t>]*(?:[-=+#>]|\d{1,9}[.)]?)[-=+# \t]*$/m;
/** A piece that grows when it is written once more is cut again, so much smaller. */
const SMALLER = 0.9;
const MOST_ATTEMPTS = 6;
const LEAST_BYTES = 128;
const MARK_BYTES = 64;
/** Room for what altering marks adds, and for what a later cut looks at. */
const MARGIN_CHARS = 1_024;
/** Of a growing text that holds a thought so many snapshots are read, since the thought takes its room away. */
const LOOKS_READ = 2;
const THOUGHT_BEGINS = /<\s{0,8}think/i;

/** @param dialect the platform's */
export function createMarkdownWriter(dialect: Dialect): MarkdownWriter {
  const settledTexts = new SettledTexts();
  const fullLooks = new SettledTexts();

  const clean = (text: string, isFinished: boolean): string => {
    const widened = widenFences(withoutUnseen(withPlainEnds(text)), {
      isFinished,
      isAlways: dialect.unfinished === 'hold',
    });
    return alterMarks(withoutThoughts(widened, isFinished), dialect);
  };
  const safely = (markdown: string): string => separateEmphasis(writeSafely(markdown, dialect));

  function fittingPieces(markdown: string, maxBytes: number, attempt = 1): string[] {
    if (Buffer.byteLength(markdown) <= maxBytes) return [markdown];
    if (attempt > MOST_ATTEMPTS) return [...cutText(withoutLinks(markdown, dialect), maxBytes)];
    return [...cutMarkdown(markdown, maxBytes)].flatMap((piece) => {
      const written = withoutHtml(safely(alterMarks(piece, dialect)));
      if (Buffer.byteLength(written) <= maxBytes) return [written];
      return fittingPieces(written, Math.max(LEAST_BYTES, Math.floor(maxBytes * SMALLER)), attempt + 1);
    });
  }

  /** What is longer than a snapshot goes on and on, while the snapshot stays as it is. */
  function fitting(source: string, maxBytes: number, write: (markdown: string) => string): string {
    const full = fullLooks.of(source);
    if (full.source === source && Buffer.byteLength(full.shown) <= maxBytes) return full.shown;
    const written = write(source);
    if (Buffer.byteLength(written) <= maxBytes) return written;
    const [shown = ''] = fittingPieces(written, maxBytes);
    fullLooks.remember({ source, shown });
    return shown;
  }

  /** Where an address may stand in another place, what is settled is not known. */
  const settledOf = (markdown: string): SettledText =>
    markdown.includes(']:') ? { source: '', shown: '' } : settledTexts.of(markdown);

  function whole(markdown: string): string {
    const settled = settledOf(markdown);
    settledTexts.forget(markdown);
    return withoutHtml(settled.shown + safely(markdown.slice(settled.source.length)));
  }

  /** Each piece is written once more before it is shown; that it is as it is to be need not be found out again. */
  function remember(pieces: readonly string[]): void {
    for (const piece of pieces) fullLooks.remember({ source: piece, shown: piece });
  }

  function look(markdown: string): string {
    const settled = settledOf(markdown);
    const tail = markdown.slice(settled.source.length);
    if (isTooIntricate(tail)) return settled.shown + safely(tail);
    const tree = mayDiffer(tail) ? readFriendly(tail) : readTree(tail);
    const { end, closing } = shapeUnfinished(tail, tree, dialect.unfinished);
    const newlySettled = tail.slice(0, Math.min(settledEnd(tail, tree), end));
    // What has settled is read a second time as a whole, once for each block; what still grows by itself.
    const shown = newlySettled === '' ? settled.shown : withoutHtml(settled.shown + safely(newlySettled));
    if (newlySettled !== '' && !markdown.includes(']:')) {
      settledTexts.remember({ source: settled.source + newlySettled, shown });
    }
    // What is closed for now may be read otherwise than what is open.
    const open = safely(alterMarks(tail.slice(newlySettled.length, end), dialect)) + closing;
    return shown + withoutHtml(separateEmphasis(open));
  }

  return {
    finished(text, maxBytes) {
      const [source, write] = isPlain(text) ? [text, asItIs] : [clean(text, true), whole];
      const written = fitting(source, maxBytes, write);
      // Nothing of an answer stays here once it has come to its end.
      fullLooks.forget(source);
      return written;
    },
    growing(text, maxBytes) {
      // No more of it than a snapshot can hold is read, however long it has grown.
      const mostChars = maxBytes + MARGIN_CHARS;
      const head = text.slice(0, mostChars);
      if (isPlain(head)) return fitting(head, maxBytes, asItIs);
      const read = THOUGHT_BEGINS.test(head) ? text.slice(0, LOOKS_READ * mostChars) : head;
      return fitting(clean(read, false).slice(0, mostChars), maxBytes, look);
    },
    pieces(text, maxBytes) {
      fullLooks.forget(text);
      const all = fittingPieces(isPlain(text) ? text : whole(clean(text, true)), maxBytes);
      const pieces = withoutBlank(all);
      remember(pieces);
      return pieces;
    },
    plainPieces(text, maxBytes) {
      const plain = withoutLinks(
        alterMarks(withoutThoughts(withoutUnseen(withPlainEnds(text)), true, 'as words'), dialect),
        dialect,
      );
      // A cut can lay a mark bare once more; altering it takes two bytes.
      const all = [...cutText(plain, maxBytes - MARK_BYTES)].map((piece) => withoutLinks(piece, dialect));
      return withoutBlank(all);
    },
    knowPieces(text, pieces) {
      const head = clean(text.slice(0, MARGIN_CHARS), false);
      fullLooks.forget(head);
      settledTexts.forget(head);
      remember(pieces);
    },
  };
}

/** For an app a line may end with a carriage return alone; where the parser does not see that, what follows would be no code to the app. */
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
