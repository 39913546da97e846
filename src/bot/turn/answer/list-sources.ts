import { stripInvisible } from '../../../shared/text/sanitize-text.ts';
import { localize, type Language } from '../../../shared/text/texts.ts';
import type { CitedSource } from '../conversation/history.ts';
import { SOURCE_TEXTS } from '../../i18n/source-texts.ts';

/** Markdown characters that are removed from titles. */
const MARKUP = /[\\`*~[\]<>]/g;
const MAX_TITLE_CHARS = 120;

/** The list of cited sources below an answer; empty if there are none. */
export function formatCitedSources(sources: readonly CitedSource[], language: Language): string {
  const cited = sources.filter(({ isCited }) => isCited);
  return cited.length === 0 ? '' : `\n\n${localize(SOURCE_TEXTS.sources, language)}\n${listSources(cited)}`;
}

/** One line per source, with number, title, address and date. */
export function listSources(sources: readonly CitedSource[]): string {
  return sources.map(lineOf).join('\n');
}

function lineOf({ number, title, url, date }: CitedSource): string {
  const label = plainLabel(title);
  const link = url === undefined ? undefined : linkable(url);
  const dated = date === undefined ? '' : ` (${plainLabel(date)})`;
  return `- [${number}] ${link === undefined ? label : `[${label}](${link})`}${dated}`;
}

/** The address in a form that is safe in a link; undefined if a browser cannot open it. */
function linkable(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, href } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') return undefined;
  return href.replace(/[()]/g, (sign) => (sign === '(' ? '%28' : '%29'));
}

/** Titles come from documents: reduced to one line of limited length without markup. */
function plainLabel(text: string): string {
  const letters = [...stripInvisible(text).replace(MARKUP, '').replace(/\s+/gu, ' ').trim()];
  return letters.length > MAX_TITLE_CHARS ? `${letters.slice(0, MAX_TITLE_CHARS).join('')}…` : letters.join('');
}
