import { stripInvisible } from '../../../shared/text/sanitize-text.ts';
import type { PromptFile } from '../conversation/build-prompt.ts';
import { estimateTokens, IMAGE_TOKENS } from '../conversation/estimate-tokens.ts';
import type { Language } from '../../../shared/text/texts.ts';
import type { Chunk } from './rank-chunks.ts';
import { displayFileName } from './file-words.ts';
import type { SharedFile, StoredFile } from './kept-file.ts';
import { renderSelectedChunks, type Place } from './render-chunks.ts';

/** A file of which the prompt contains only a part. */
export interface CutFile {
  name: string;
  /** Last place of the beginning that fits, as named by the document. */
  upTo: string;
  /** Places selected by relevance; absent if the beginning is used. */
  places?: readonly Place[];
  pageCount?: number;
}

export interface FitOptions {
  /** Maximum tokens of all files together; decided by `filesRoom` in answer-prompt.ts. */
  roomTokens: number;
  tokenFactor: number;
  /** Maximum pictures of all files together. */
  maxPictures: number;
  /** Ranked chunks of each file. A file without chunks contributes its beginning. */
  pieces?: readonly (readonly Chunk[])[];
  language: Language;
}

/** Minimum length of a partial text; a shorter one is useless. */
const MIN_CHARS = 200;

/**
 * Fits the files into the available space in fair shares: the chunks relevant to the question, or the beginning up to a
 * named place.
 */
export function fitAttachments(
  files: readonly (StoredFile | SharedFile)[],
  { roomTokens, tokenFactor, maxPictures, pieces = [], language }: FitOptions,
): { files: PromptFile[]; cut: CutFile[] } {
  let leftTokens = roomTokens;
  const pictureShares = shareOut(
    files.map(({ pictures }) => pictures.length),
    maxPictures,
  );
  const cut: CutFile[] = [];
  const written = files.map((file, index): PromptFile => {
    const name = displayFileName(file.name, language);
    const shown = file.pictures.slice(0, pictureShares[index]);
    const share = leftTokens / (files.length - index) - shown.length * IMAGE_TOKENS;
    const { text, upTo, places, hasEnd } = partOf({ file, pieces: pieces[index] ?? [] }, share, tokenFactor);
    leftTokens -= estimateTokens(text, tokenFactor) + shown.length * IMAGE_TOKENS;
    const lastScan = file.pictures.slice(shown.length).some(({ isScan }) => isScan)
      ? (shown.at(-1)?.label ?? 'the beginning')
      : undefined;
    const place = upTo ?? file.cutAt ?? lastScan;
    if (place !== undefined) cut.push({ name, upTo: place, places, pageCount: file.pageCount });
    const pictures = shown.map(({ label, dataUrl }) => ({ label: stripInvisible(label), dataUrl }));
    const goesOn = hasEnd === true ? file.cutAt !== undefined || lastScan !== undefined : place !== undefined;
    const from = 'from' in file ? file.from : undefined;
    return { name, from, text: stripInvisible(text), pictures, isCut: goesOn };
  });
  return { files: written, cut };
}

/** Divides a total fairly: what one file does not need goes to the others. */
function shareOut(wanted: readonly number[], total: number): number[] {
  const shares = wanted.map(() => 0);
  let left = Math.max(total, 0);
  const order = [...wanted.keys()].sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0));
  for (const [done, index] of order.entries()) {
    const share = Math.min(wanted[index] ?? 0, Math.ceil(left / (order.length - done)));
    shares[index] = share;
    left -= share;
  }
  return shares;
}

/** The part of a file in a prompt. */
interface Part {
  text: string;
  /** Last included place; absent if the file is complete. */
  upTo?: string;
  places?: readonly Place[];
  /** For selected chunks: whether the last chunk is included. */
  hasEnd?: boolean;
}

function partOf(
  { file, pieces }: { file: StoredFile; pieces: readonly Chunk[] },
  shareTokens: number,
  tokenFactor: number,
): Part {
  const beginning = beginningOf(file, shareTokens, tokenFactor);
  if (beginning.upTo === undefined || pieces.length === 0) return beginning;
  const chosen = renderSelectedChunks(pieces, shareTokens, tokenFactor);
  return chosen ? { ...chosen, upTo: beginning.upTo } : beginning;
}

function beginningOf({ parts }: StoredFile, shareTokens: number, tokenFactor: number): Part {
  let left = shareTokens;
  const written: string[] = [];
  for (const [index, { label, text }] of parts.entries()) {
    const whole = label === undefined ? text : `[${label}]\n${text}`;
    const tokens = estimateTokens(whole, tokenFactor);
    if (tokens <= left) {
      left -= tokens;
      written.push(whole);
      continue;
    }
    const room = Math.floor((whole.length * Math.max(left, 0)) / tokens);
    const piece = room >= MIN_CHARS ? cutAtLine(whole, room) : '';
    if (piece !== '') written.push(piece);
    const last = piece === '' ? parts[index - 1]?.label : label;
    return { text: written.join('\n\n'), upTo: last ?? shareOf(written.join(''), parts) };
  }
  return { text: written.join('\n\n') };
}

/** Cuts at the end of a line if one is close. */
function cutAtLine(text: string, room: number): string {
  const end = text.lastIndexOf('\n', room);
  return text.slice(0, end > room / 2 ? end : room);
}

/** Percentage of the whole, for documents without named places. */
function shareOf(written: string, parts: StoredFile['parts']): string {
  const all = parts.reduce((sum, { text }) => sum + text.length, 0);
  return `${Math.round((100 * written.length) / Math.max(all, 1))} %`;
}
