/** A piece of a document that is judged and shown as one. */
export interface Passage {
  /** In the document's text, in characters. */
  from: number;
  to: number;
  /** What stands above it and says what it is about: headings, a page, a sheet. */
  context: string;
}

/** An ideograph says as much as two letters, and costs a model as much. */
const MOST_WIDTH = 1_500;
/** From here on a passage ends where a paragraph does. */
const ENOUGH_WIDTH = 900;
const HEADING = /^#{1,6}[ \t]([^\n]*)/;
const MOST_HEADING_CHARS = 120;

/**
 * Cuts a text into passages, between paragraphs where that can be, else between lines, sentences or characters. They follow each other
 * without a gap, so that what stands around one is at hand. Linear in the text.
 * @param label what the whole text is of its document, such as `page 3`
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
    // What is under a heading belongs together, unless that is hardly anything.
    if (width > 0 && (width + piece.width > MOST_WIDTH || (headed !== undefined && width >= ENOUGH_WIDTH / 3)))
      end(piece.from);
    if (headed !== undefined) {
      heading = headed
        .replace(/(?<![#\s])[#\s]+$/, '')
        .trimStart()
        .slice(0, MOST_HEADING_CHARS);
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

/** Lines, and of long lines sentences, none wider than a passage. */
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
    if (width < MOST_WIDTH) continue;
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
/** After which a sentence, or a part of one, has ended. */
const STOPS: ReadonlySet<number> = new Set([...'。！？；.!?; \t'].map((stop) => stop.charCodeAt(0)));
/** So far a blank line is looked for. */
const MOST_BLANKS = 20;

function isBlankLine(text: string, at: number): boolean {
  for (let seen = 0; seen < MOST_BLANKS; seen += 1) {
    const unit = text.charCodeAt(at + seen);
    if (Number.isNaN(unit) || unit === LINE_FEED) return true;
    if (unit !== 32 && unit !== 9 && unit !== 13) return false;
  }
  return false;
}

function joined(label: string, heading: string): string {
  return (label.includes(heading) ? [label] : [label, heading]).filter(Boolean).join(' · ');
}
