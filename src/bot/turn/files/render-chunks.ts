import { estimateTokens } from '../conversation/estimate-tokens.ts';
import type { Chunk } from './rank-chunks.ts';

/** A place in a file as the document names it: `page 3` (to `page 7`), `sheet Budget, rows 1–200`, `12–15 %`. */
export interface Place {
  from: string;
  /** End of the range, if it has more than one place. */
  to?: string;
}

/** The part of a file in a prompt, with its places in the file. */
export interface ChosenText {
  text: string;
  /** In file order. */
  places: Place[];
  /** Whether the end of the file is included. */
  hasEnd: boolean;
}

/** Share of the space for the beginning of a file, which shows the type of the document. */
const BEGINNING_SHARE = 0.25;
/** Number of consecutive chunks that do not fit after which the search for smaller ones ends. */
const MAX_MISFITS = 20;
const PAGE = /^page \d+$/;

/**
 * Fills the available space with the beginning of the file, the relevant chunks with their neighbours, and then further
 * chunks from the beginning. Chunks are in file order, and gaps are marked.
 * @returns undefined if no relevant chunk fits
 */
export function renderSelectedChunks(
  pieces: readonly Chunk[],
  roomTokens: number,
  tokenFactor: number,
): ChosenText | undefined {
  const chosen = choose(pieces, roomTokens, tokenFactor);
  if (!chosen) return undefined;
  let text = '';
  let last = -1;
  for (const index of [...chosen].toSorted((one, other) => one - other)) {
    text += pieceWithin(pieces, index, last);
    last = index;
  }
  return { text, places: placesOf(pieces, chosen), hasEnd: last === pieces.length - 1 };
}

function choose(pieces: readonly Chunk[], roomTokens: number, tokenFactor: number): Set<number> | undefined {
  const chosen = new Set<number>();
  const gapTokens = maxGapTokens(pieces, tokenFactor);
  let leftTokens = roomTokens;
  const take = (index: number): boolean => {
    const piece = pieces[index];
    if (!piece || chosen.has(index)) return true;
    const tokens = estimateTokens(`\n\n${nameOf(piece)}${headOf(piece)}${piece.text}`, tokenFactor) + gapTokens;
    if (tokens > leftTokens) return false;
    leftTokens -= tokens;
    chosen.add(index);
    return true;
  };
  // A section ends where the next begins; a page may end within a sentence.
  const goesOnWith = (index: number) => (other: number) =>
    pieces[index]?.part === pieces[other]?.part || PAGE.test(pieces[other]?.label ?? '');
  const fitting = pieces.flatMap(({ fit }, index) => (fit > 0 ? [{ fit, index }] : []));
  const best = fitting.toSorted((one, other) => other.fit - one.fit).map(({ index }) => index);
  const minLeft = roomTokens * (1 - BEGINNING_SHARE);
  for (let index = 0; index < pieces.length && leftTokens > minLeft; index += 1) if (!take(index)) break;
  takeUntilFull(best, take);
  if (!best.some((index) => chosen.has(index))) return undefined;
  const beside = best.flatMap((index) => (chosen.has(index) ? [index + 1, index - 1].filter(goesOnWith(index)) : []));
  takeUntilFull(beside, take);
  for (let index = 0; index < pieces.length; index += 1) if (!take(index)) break;
  return chosen;
}

function takeUntilFull(indexes: readonly number[], take: (index: number) => boolean): void {
  let misfits = 0;
  for (const index of indexes) {
    misfits = take(index) ? 0 : misfits + 1;
    if (misfits > MAX_MISFITS) return;
  }
}

/** Formats a chunk according to the previously written one. */
function pieceWithin(pieces: readonly Chunk[], index: number, last: number): string {
  const piece = pieces[index] as Chunk;
  const before = pieces[index - 1];
  if (index === 0) return nameOf(piece) + piece.text;
  if (last === index - 1) return before?.part === piece.part ? piece.text : `\n\n${nameOf(piece)}${piece.text}`;
  const left = gapBetween(pieces[last + 1], before);
  return `${last < 0 ? '' : '\n\n'}${left}\n\n${nameOf(piece)}${headOf(piece)}${piece.text}`;
}

function nameOf({ label }: Chunk): string {
  return label === undefined ? '' : `[${label}]\n`;
}

function headOf({ head }: Chunk): string {
  return head === undefined ? '' : `${head}\n`;
}

/** Tells the model about omitted text. */
function gapBetween(first: Chunk | undefined, last: Chunk | undefined): string {
  if (first?.label === undefined || last?.label === undefined) return '[Something is left out here.]';
  const places = first.label === last.label ? `of ${first.label}` : `from ${first.label} to ${last.label}`;
  return `[Left out here: something ${places}.]`;
}

function maxGapTokens(pieces: readonly Chunk[], tokenFactor: number): number {
  const longest = pieces.reduce<Chunk | undefined>(
    (most, piece) => (labelTokens(piece) > labelTokens(most) ? piece : most),
    pieces[0],
  );
  const gap = gapBetween(longest, longest && { ...longest, label: longest.label && `${longest.label} ` });
  return estimateTokens(`${gap}\n\n`, tokenFactor);
}

function labelTokens(piece: Chunk | undefined): number {
  return estimateTokens(piece?.label ?? '');
}

/** Consecutive chunks form one place. Without labels, places are percentages of the whole. */
function placesOf(pieces: readonly Chunk[], chosen: ReadonlySet<number>): Place[] {
  const end = pieces.at(-1);
  const wholeChars = Math.max(end ? end.from + end.text.length : 0, 1);
  const runs: { first: Chunk; last: Chunk; index: number }[] = [];
  for (const [index, piece] of pieces.entries()) {
    if (!chosen.has(index)) continue;
    const run = runs.at(-1);
    const isNext = run?.index === index - 1 || (piece.label !== undefined && run?.last.label === piece.label);
    if (run && isNext && (run.last.label === undefined) === (piece.label === undefined))
      Object.assign(run, { last: piece, index });
    else runs.push({ first: piece, last: piece, index });
  }
  return runs.map(({ first, last }) => {
    if (first.label !== undefined)
      return { from: first.label, to: last.label === first.label ? undefined : last.label };
    const share = (chars: number, round: (value: number) => number) => round((100 * chars) / wholeChars);
    return { from: `${share(first.from, Math.floor)}–${share(last.from + last.text.length, Math.ceil)} %` };
  });
}
