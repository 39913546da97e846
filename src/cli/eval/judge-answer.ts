import type { Question } from './questions-file.ts';

/** The result of a question, as its user saw it. */
export interface Answer {
  /** The answer's text, and the notes shown with it. */
  text: string;
  beside: string;
  /** The reply to `/sources`, requested only if needed. */
  sources?: string;
}

/**
 * Checks an answer for required and forbidden texts. Ignores case and whitespace differences.
 * @returns one sentence per fault
 */
export function faultsOf({ must, mustNot, source }: Question, { text, beside, sources = '' }: Answer): string[] {
  const said = plain(text);
  const shown = plain(`${text}\n${beside}\n${sources}`);
  const cited = plain(`${beside}\n${sources}`);
  return [
    ...must.filter((words) => !said.includes(plain(words))).map((words) => `lacks “${words}”`),
    ...mustNot.filter((words) => shown.includes(plain(words))).map((words) => `says “${words}”`),
    ...source.filter((title) => !cited.includes(plain(title))).map((title) => `does not cite the source “${title}”`),
  ];
}

function plain(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim();
}
