/** A part of a document that is ranked and shown as a unit. */
export interface Passage {
  /** Character offset in the document's text. */
  from: number;
  to: number;
  /** Heading, page or sheet of the passage. */
  context: string;
}

/**
 * Counted in columns: a CJK character counts as two, since it carries about as much information and as many tokens as two
 * letters.
 */
const MAX_WIDTH = 1_500;
/** A passage of at least this width ends at the next paragraph end. */
const ENOUGH_WIDTH = 900;
const HEADING = /^#{1,6}[ \t]([^\n]*)/;
const MAX_HEADING_CHARS = 120;

/**
 * Splits a text into passages at paragraph ends, or else at line ends, sentence ends or characters. Passages are contiguous,
 * so that the surrounding text can be shown. Linear in the text.
 * @param label place of the text in the document, such as `page 3`
 */
export function cutIntoPassages(text: string, label = ''): Passage[] {
  const passages: Passage[] = [];
  let heading = '';
  let from = 0;
  let width = 0;
  let context = label;
  const end = (to: number) => {
    if (text.slice(from, to).trim() !== '') passages.push({ from, to, context });
    from = to;
    width = 0;
    context = joined(label, heading);
  };
  for (const piece of piecesOf(text)) {
    const headed = HEADING.exec(text.slice(piece.from, Math.min(piece.to, piece.from + 200)))?.[1];
    // A heading starts a new passage, unless the current one is still short.
    if (width > 0 && (width + piece.width > MAX_WIDTH || (headed !== undefined && width >= ENOUGH_WIDTH / 3)))
      end(piece.from);
    if (headed !== undefined) {
      heading = headed
        .replace(/(?<![#\s])[#\s]+$/, '')
        .trimStart()
        .slice(0, MAX_HEADING_CHARS);
      if (width === 0) context = joined(label, heading);
    }
    width += piece.width;
    if (width >= ENOUGH_WIDTH && piece.endsParagraph) end(piece.to);
  }
  end(text.length);
  return passages;
}

interface Piece {
  from: number;
  to: number;
  width: number;
  endsParagraph: boolean;
}

/** Splits into lines, and long lines into sentences. No piece is wider than a passage. */
function* piecesOf(text: string): Generator<Piece> {
  let from = 0;
  let width = 0;
  let lastStop = -1;
  let widthAtStop = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    width += unit >= FIRST_WIDE ? 2 : 1;
    if (unit === LINE_FEED) {
      yield { from, to: at + 1, width, endsParagraph: isBlankLine(text, at + 1) };
      from = at + 1;
      width = 0;
      lastStop = -1;
    } else if (STOPS.has(unit)) {
      lastStop = at + 1;
      widthAtStop = width;
    }
    if (width < MAX_WIDTH) continue;
    const isLow = (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
    const to = lastStop > from ? lastStop : at + (isLow ? 2 : 1);
    const widthHere = lastStop > from ? widthAtStop : width;
    yield { from, to, width: widthHere, endsParagraph: false };
    width = Math.max(0, width - widthHere);
    from = to;
    lastStop = -1;
    at = Math.max(at, to - 1);
  }
  if (from < text.length) yield { from, to: text.length, width, endsParagraph: true };
}

const FIRST_WIDE = 0x2e80;
const LINE_FEED = 10;
/** Characters that end a sentence or a clause. */
const STOPS: ReadonlySet<number> = new Set([...'。！？；.!?; \t'].map((stop) => stop.charCodeAt(0)));
/** Maximum whitespace characters to check for a blank line. */
const MAX_BLANKS = 20;

function isBlankLine(text: string, at: number): boolean {
  for (let seen = 0; seen < MAX_BLANKS; seen += 1) {
    const unit = text.charCodeAt(at + seen);
    if (Number.isNaN(unit) || unit === LINE_FEED) return true;
    if (unit !== 32 && unit !== 9 && unit !== 13) return false;
  }
  return false;
}

function joined(label: string, heading: string): string {
  return (label.includes(heading) ? [label] : [label, heading]).filter(Boolean).join(' · ');
}
