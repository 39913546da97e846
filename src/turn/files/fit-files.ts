import { withoutUnseen } from '../../base/plain-characters.ts';
import type { PromptFile } from '../../conversation/build-prompt.ts';
import { estimateTokens, IMAGE_TOKENS } from '../../conversation/estimate-tokens.ts';
import type { Language } from '../../base/texts.ts';
import { shownName } from './file-words.ts';
import type { KeptFile } from './kept-file.ts';

/** A file that the prompt holds a beginning of. */
export interface CutFile {
  name: string;
  /** The last place of it that the prompt holds, as the document names it. */
  upTo: string;
  pageCount?: number;
}

export interface FitOptions {
  /** Tokens for all files together. */
  roomTokens: number;
  tokenFactor: number;
  /** Pictures for all files together. */
  mostPictures: number;
  language: Language;
}

/** A piece of a text that is shorter says nothing. */
const LEAST_CHARS = 200;

/** As much of the files as there is room for, each with a fair share of it, cut at a named place. */
export function fitFiles(
  files: readonly KeptFile[],
  { roomTokens, tokenFactor, mostPictures, language }: FitOptions,
): { files: PromptFile[]; cut: CutFile[] } {
  let leftTokens = roomTokens;
  let leftPictures = mostPictures;
  const cut: CutFile[] = [];
  const written = files.map((file, index): PromptFile => {
    const name = shownName(file.name, language);
    const shown = file.pictures.slice(0, Math.max(leftPictures, 0));
    leftPictures -= shown.length;
    const share = leftTokens / (files.length - index) - shown.length * IMAGE_TOKENS;
    const { text, upTo } = beginningOf(file, share, tokenFactor);
    leftTokens -= estimateTokens(text, tokenFactor) + shown.length * IMAGE_TOKENS;
    const lastScan = file.pictures.slice(shown.length).some(({ isScan }) => isScan)
      ? (shown.at(-1)?.label ?? 'the beginning')
      : undefined;
    const place = upTo ?? file.cutAt ?? lastScan;
    if (place !== undefined) cut.push({ name, upTo: place, pageCount: file.pageCount });
    const pictures = shown.map(({ label, dataUrl }) => ({ label: withoutUnseen(label), dataUrl }));
    return { name, text: withoutUnseen(text), pictures, isCut: place !== undefined };
  });
  return { files: written, cut };
}

function beginningOf({ parts }: KeptFile, shareTokens: number, tokenFactor: number): { text: string; upTo?: string } {
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
