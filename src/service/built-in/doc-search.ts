import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type MiniSearch from 'minisearch';
import { splitSections, type DocSection } from './doc-sections.ts';
import { contentWordsOf, wordsOf, wordStem } from './words.ts';

/** The section that fits a question best, and the words by which it was looked for. */
export interface FoundSection {
  section: DocSection;
  terms: string[];
}

interface Index {
  search: MiniSearch;
  sections: DocSection[];
}

/** A match must hold this share of the question's words; less is chance, and the model says that it does not know. */
const MIN_SHARE = 0.4;

/** Searches README.md and docs/*.md. Pages and the search library are loaded at the first question; missing pages are no fault. */
export class DocSearch {
  readonly #dir: string;
  #index: Promise<Index> | undefined;

  /** @param dir the folder that holds README.md and docs/ */
  constructor(dir: string) {
    this.#dir = dir;
  }

  async find(question: string): Promise<FoundSection | undefined> {
    const words = contentWordsOf(question);
    const terms = words.filter((word) => word !== 'parley');
    const wanted = terms.length > 0 ? terms : words;
    if (wanted.length === 0) return undefined;
    const { search, sections } = await (this.#index ??= this.#load());
    const best = search.search(wanted.join(' '), {
      prefix: (term) => term.length > 3,
      fuzzy: (term) => (term.length > 5 ? 0.2 : false),
    })[0];
    if (!best || best.queryTerms.length < MIN_SHARE * countedTerms(wanted)) return undefined;
    const section = sections[best.id as number];
    return section && { section, terms: wanted };
  }

  async #load(): Promise<Index> {
    const { default: MiniSearchClass } = await import('minisearch');
    const pages = await Promise.all(
      (await pagesOf(this.#dir)).map(async (page) => splitSections(page, await readPage(join(this.#dir, page)))),
    );
    const sections = pages.flat().map((section, id) => ({ ...section, id }));
    const search = new MiniSearchClass<DocSection>({
      fields: ['title', 'text'],
      extractField: (section, field) =>
        field === 'text' ? section.blocks.join('\n') : String(section[field as keyof DocSection]),
      tokenize: wordsOf,
      processTerm: wordStem,
      searchOptions: { boost: { title: 3 }, combineWith: 'OR' },
    });
    search.addAll(sections);
    return { search, sections };
  }
}

/** Chinese pairs that no page has must not count against a question whose trade words were translated. */
function countedTerms(terms: string[]): number {
  const latin = terms.filter((term) => !/\p{Script=Han}/u.test(term)).length;
  return latin > 0 ? latin : terms.length;
}

async function pagesOf(dir: string): Promise<string[]> {
  const names = await readdir(join(dir, 'docs')).catch(() => []);
  return [
    'README.md',
    ...names
      .filter((name) => name.endsWith('.md'))
      .sort()
      .map((name) => `docs/${name}`),
  ];
}

async function readPage(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}
