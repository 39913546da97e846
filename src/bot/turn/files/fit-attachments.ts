import { withoutUnseen } from '../../../shared/text/sanitize-text.ts';
import type { PromptFile } from '../conversation/build-prompt.ts';
import { estimateTokens, IMAGE_TOKENS } from '../conversation/estimate-tokens.ts';
import type { Language } from '../../../shared/text/texts.ts';
import type { Piece } from './rank-chunks.ts';
import { shownName } from './file-words.ts';
import type { KeptFile } from './kept-file.ts';
import { writeChosen, type Place } from './render-chunks.ts';

/** A file that the prompt holds a part of. */
export interface CutFile {
  name: string;
  /** The last place of its beginning that has room, as the document names it. */
  upTo: string;
  /** The places that were chosen since they fit the question; absent where it is the beginning. */
  places?: readonly Place[];
  pageCount?: number;
}

export interface FitOptions {
  /** Tokens for all files together. */
  roomTokens: number;
  tokenFactor: number;
  /** Pictures for all files together. */
  mostPictures: number;
  /** Of each file the pieces from which those are chosen that fit the question; its beginning is taken where there are none. */
  pieces?: readonly (readonly Piece[])[];
  language: Language;
}

/** A piece of a text that is shorter says nothing. */
const LEAST_CHARS = 200;

/** As much of the files as there is room for, each with a fair share of it: what fits the question, or the beginning up to a named place. */
export function fitFiles(
  files: readonly KeptFile[],
  { roomTokens, tokenFactor, mostPictures, pieces = [], language }: FitOptions,
): { files: PromptFile[]; cut: CutFile[] } {
  let leftTokens = roomTokens;
  let leftPictures = mostPictures;
  const cut: CutFile[] = [];
  const written = files.map((file, index): PromptFile => {
    const name = shownName(file.name, language);
    const shown = file.pictures.slice(0, Math.max(leftPictures, 0));
    leftPictures -= shown.length;
    const share = leftTokens / (files.length - index) - shown.length * IMAGE_TOKENS;
    const { text, upTo, places, hasEnd } = partOf({ file, pieces: pieces[index] ?? [] }, share, tokenFactor);
    leftTokens -= estimateTokens(text, tokenFactor) + shown.length * IMAGE_TOKENS;
    const lastScan = file.pictures.slice(shown.length).some(({ isScan }) => isScan)
      ? (shown.at(-1)?.label ?? 'the beginning')
      : undefined;
    const place = upTo ?? file.cutAt ?? lastScan;
    if (place !== undefined) cut.push({ name, upTo: place, places, pageCount: file.pageCount });
    const pictures = shown.map(({ label, dataUrl }) => ({ label: withoutUnseen(label), dataUrl }));
    const goesOn = hasEnd === true ? file.cutAt !== undefined || lastScan !== undefined : place !== undefined;
    return { name, text: withoutUnseen(text), pictures, isCut: goesOn };
  });
  return { files: written, cut };
}

/** What a prompt holds of a file. */
interface Part {
  text: string;
  /** The last place that it holds; absent where it is the whole. */
  upTo?: string;
  places?: readonly Place[];
  /** Of what was chosen: whether the last piece is. */
  hasEnd?: boolean;
}

function partOf(
  { file, pieces }: { file: KeptFile; pieces: readonly Piece[] },
  shareTokens: number,
  tokenFactor: number,
): Part {
  const beginning = beginningOf(file, shareTokens, tokenFactor);
  if (beginning.upTo === undefined || pieces.length === 0) return beginning;
  const chosen = writeChosen(pieces, shareTokens, tokenFactor);
  return chosen ? { ...chosen, upTo: beginning.upTo } : beginning;
}

function beginningOf({ parts }: KeptFile, shareTokens: number, tokenFactor: number): Part {
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
    const piece = room >= LEAST_CHARS ? cutAtLine(whole, room) : '';
    if (piece !== '') written.push(piece);
    const last = piece === '' ? parts[index - 1]?.label : label;
    return { text: written.join('\n\n'), upTo: last ?? shareOf(written.join(''), parts) };
  }
  return { text: written.join('\n\n') };
}

/** At the end of a line, where one is near. */
function cutAtLine(text: string, room: number): string {
  const end = text.lastIndexOf('\n', room);
  return text.slice(0, end > room / 2 ? end : room);
}

/** Where no place has a name, how much of the whole it is. */
function shareOf(written: string, parts: KeptFile['parts']): string {
  const all = parts.reduce((sum, { text }) => sum + text.length, 0);
  return `${Math.round((100 * written.length) / Math.max(all, 1))} %`;
}
