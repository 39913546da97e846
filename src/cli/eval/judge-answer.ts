import type { Question } from './questions-file.ts';

/** What came of a question, as its person saw it. */
export interface Answer {
  /** The answer's text, and what stands beside it. */
  text: string;
  beside: string;
  /** What `/sources` says; asked only where it counts. */
  sources?: string;
}

/**
 * Looks for what must and must not stand in an answer: exact words, whatever the case of letters and the width of blanks.
 * @returns a sentence for each thing that is not as it should be
 */
export function faultsOf({ must, mustNot, source }: Question, { text, beside, sources = '' }: Answer): string[] {
  const said = plain(text);
  const shown = plain(`${text}\n${beside}\n${sources}`);
  const cited = plain(`${beside}\n${sources}`);
  return [
    ...must.filter((words) => !said.includes(plain(words))).map((words) => `lacks “${words}”`),
    ...mustNot.filter((words) => shown.includes(plain(words))).map((words) => `says “${words}”`),
    ...source.filter((title) => !cited.includes(plain(title))).map((title) => `does not name the source “${title}”`),
  ];
}

function plain(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim();
}
