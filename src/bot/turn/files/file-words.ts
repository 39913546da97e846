import { stripInvisible } from '../../../shared/text/sanitize-text.ts';
import { localize, type Language } from '../../../shared/text/texts.ts';
import { FILE_TEXTS } from '../../i18n/file-texts.ts';
import type { StoredFile } from './kept-file.ts';

const MAX_NAME_CHARS = 80;
/** Characters that could be markup in an app, a label in a prompt or part of a path. */
const UNWANTED = /[<>"'`*~|[\]{}\\/@#\s\p{Cc}\p{Zl}\p{Zp}]+/gu;

/** A file name for display and prompts: a limited number of plain characters (SECURITY.md named-plainly). */
export function displayFileName(name: string | undefined, language: Language): string {
  const last =
    stripInvisible(name ?? '')
      .split(/[\\/]/)
      .at(-1) ?? '';
  const plain = [...last.replace(UNWANTED, ' ').trim()];
  if (plain.length === 0) return localize(FILE_TEXTS.nameless, language);
  if (plain.length <= MAX_NAME_CHARS) return plain.join('');
  const ending = /\.\w{1,8}$/.exec(plain.join(''))?.[0] ?? '';
  return `${plain.slice(0, MAX_NAME_CHARS - ending.length - 1).join('')}…${ending}`;
}

/** Formats a place of a document for a sentence. Names from the document remain unchanged. */
export function formatPlace(label: string, language: Language): string {
  const plain = stripInvisible(label).replace(UNWANTED, ' ').trim();
  if (language === 'en') return plain.replace(/^(page|slide) (\d+–\d+)$/, '$1s $2');
  return plain
    .replace(/^page (\d+(?:–\d+)?)$/, '第 $1 页')
    .replace(/^slide (\d+(?:–\d+)?)$/, '第 $1 张幻灯片')
    .replace(/^sheet /, '工作表 ')
    .replace(/^section /, '小节 ')
    .replace(/^the beginning$/, '开头')
    .replace(/rows (\d+–\d+)$/, '第 $1 行')
    .replace(/^(\d+(?:–\d+)?) %$/, '$1 %');
}

/** Formats a range between two places of a document. */
export function rangeIn({ from, to }: { from: string; to?: string }, language: Language): string {
  if (to === undefined) return formatPlace(from, language);
  const [first, last] = [from, to].map((label) => /^(page|slide) (\d+)$/.exec(label));
  if (first && last && first[1] === last[1]) return formatPlace(`${first[0]}–${last[2]}`, language);
  return localize(FILE_TEXTS.fromTo, language, { from: formatPlace(from, language), to: formatPlace(to, language) });
}

/** Size of a file, shown after its name: `(40 pages)`. Empty if unknown. */
export function extentOf({ pageCount, parts }: StoredFile, language: Language): string {
  const sheets = new Set(parts.flatMap(({ label = '' }) => /^sheet ([^,]*)/.exec(label)?.[1] ?? [])).size;
  const slides = parts.filter(({ label = '' }) => label.startsWith('slide ')).length;
  if (pageCount !== undefined && pageCount > 1) return localize(FILE_TEXTS.pages, language, { count: pageCount });
  if (slides > 1) return localize(FILE_TEXTS.slides, language, { count: slides });
  return sheets > 1 ? localize(FILE_TEXTS.sheets, language, { count: sheets }) : '';
}
