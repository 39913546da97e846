import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type MiniSearch from 'minisearch';
import type { Language } from '../../shared/text/texts.ts';
import { splitSections, type DocSection } from './doc-sections.ts';
import { isAnswer, type WordCounts } from './judge-match.ts';
import { asksAboutInside, settingNamesIn, termsOf } from './question-terms.ts';
import { wordsOf, wordStem } from './words.ts';

/** The section that best fits a question, the search terms, and the language of the section. */
export interface FoundSection {
  section: DocSection;
  terms: string[];
  language: Language;
}

interface Index {
  search: MiniSearch;
  sections: DocSection[];
  counts: Record<Language, WordCounts>;
}

const CHINESE_PAGE = /\.zh-CN\.md$|^docs\/zh-CN\//;
/**
 * Pages that are never quoted. Tables of tests and of Redis keys contain every word and explain none; guides to the source are
 * followed; decisions explain why and not how.
 */
const NEVER_QUOTED =
  /^docs\/(?:README|reference\/(?:RELIABILITY|SECURITY|PLATFORM_FACTS|REDIS_KEYS)|extending\/\w+|design\/performance|design\/decisions\/[\w-]+)\.md$/;
/** Pages about how Parley is built. Design pages answer only questions about that, because they contain the words of every question. */
const DEVELOPER_PAGE = /^docs\/(?:ARCHITECTURE\.md$|design\/)/;
const DESIGN_PAGES = 'docs/design/';
/** What a program needs that talks to the service; its words are those of everything that people ask. */
const INTERFACE_PAGE = 'docs/reference/SERVICE.md';
/** The only part of it for operators. */
const SET_UP_SECTION = 'Run it alone';
/** Developer pages rank lower for usage questions, so they are used only if other pages hardly match. */
const OUTRANKED_WEIGHT = 0.35;
const DEFINITION_WEIGHT = 10;
/**
 * Reference tables of settings, hosts or errors contain nearly every word. A question that names no entry is better answered
 * by a page with explanations.
 */
const REFERENCE_PAGE = /(?:^|\/)(?:SETTINGS|OPERATIONS)\.md$/;
/** Its short rows contain the words of many questions; the Chinese guides answer those that name no setting. */
const CHINESE_SETTINGS = 'docs/zh-CN/SETTINGS.md';
/** File format reference, which also contains the words of most questions. */
const FIELDS_PAGE = /(?:^|\/)MODELS\.md$/;
const FIELDS_WEIGHT = 0.3;
const REFERENCE_WEIGHT = 0.5;
const TABLE_ROW = /^- .+ — /;

/**
 * Searches README.md, docs/ and their Chinese versions. Pages and the search library are loaded at the first question;
 * missing pages are ignored.
 */
export class DocSearch {
  readonly #dir: string;
  #index: Promise<Index> | undefined;

  /** @param dir the directory that contains README.md and docs/ */
  constructor(dir: string) {
    this.#dir = dir;
  }

  /**
   * The best section for a question. A Chinese question is searched in the Chinese pages first, and in the English pages if
   * those have no match. Only English pages describe how Parley is built.
   */
  async find(question: string, language: Language): Promise<FoundSection | undefined> {
    const index = await (this.#index ??= this.#load());
    const own = language === 'zh' && asksAboutInside(question) ? undefined : this.#findIn(index, question, language);
    return own ?? (language === 'zh' ? this.#findIn(index, question, 'en') : undefined);
  }

  #findIn({ search, sections, counts }: Index, question: string, language: Language): FoundSection | undefined {
    const terms = termsOf(question, language);
    if (terms.length === 0) return undefined;
    const weigh = weighFor(question, terms);
    const rated = search.search(terms.join(' '), {
      prefix: (term) => term.length > 3,
      fuzzy: (term) => (term.length > 5 ? 0.2 : false),
      filter: ({ id }) => languageOf(sections[id as number]) === language,
      boostDocument: (id) => weigh(sections[id as number]),
    });
    const best = rated.find(({ queryTerms, match }) =>
      isAnswer(question, terms, {
        match: { terms: queryTerms, words: new Set(Object.keys(match)) },
        counts: counts[language],
      }),
    );
    const section = best && sections[best.id as number];
    return section && { section, terms, language };
  }

  async #load(): Promise<Index> {
    const { default: MiniSearchClass } = await import('minisearch');
    const pages = await Promise.all(
      (await pagesOf(this.#dir)).map(async (page) => splitSections(page, await readPage(join(this.#dir, page)))),
    );
    const sections = pages.flat().map((section, id) => ({ ...section, id }));
    const search = new MiniSearchClass<DocSection>({
      fields: ['title', 'leads', 'text'],
      extractField: fieldOf,
      tokenize: wordsOf,
      processTerm: wordStem,
      searchOptions: { boost: { title: 3, leads: 3 }, weights: { prefix: 0.4, fuzzy: 0.15 }, combineWith: 'OR' },
    });
    search.addAll(sections);
    return { search, sections, counts: { en: countWords(sections, 'en'), zh: countWords(sections, 'zh') } };
  }
}

function countWords(all: DocSection[], language: Language): WordCounts {
  const sections = all.filter((section) => languageOf(section) === language);
  const holding = new Map<string, number>();
  for (const { title, blocks } of sections)
    for (const word of new Set(wordsOf([title, ...blocks].join('\n')))) holding.set(word, (holding.get(word) ?? 0) + 1);
  return { sections: sections.length, holding };
}

/**
 * Bold words at the beginning of a paragraph or step act as small headings; alone on a line they only group the following
 * blocks.
 */
const LEAD = /^\s*(?:(?:[-*+]|\d+[.)])\s*)?\*\*([^*\n]+)\*\*(?=.)/;

function fieldOf(section: DocSection, field: string): string {
  if (field === 'text') return section.blocks.join('\n');
  if (field === 'leads') return section.blocks.map((block) => LEAD.exec(block)?.[1] ?? '').join('\n');
  return String(field === 'title' ? section.title : section.id);
}

/** Weight of a section for a question; 0 excludes it. */
function weighFor(question: string, terms: string[]): (section: DocSection | undefined) => number {
  const names = settingNamesIn(question);
  const isAboutInside = asksAboutInside(question);
  const asksMeaning = names.length > 0 && terms.every((term) => wordsOf(names.join(' ')).includes(term));
  return (section) => {
    if (!section || (section.page.startsWith(DESIGN_PAGES) && !isAboutInside)) return 0;
    const prose = section.blocks.filter((block) => !block.includes('```')).join('\n');
    if (!names.every((name) => prose.includes(name))) return 0;
    if (names.length === 0 && section.page === CHINESE_SETTINGS) return 0;
    const isDefinition = asksMeaning && names.some((name) => prose.includes(`- \`${name}\` —`));
    const isOfInterface = section.page === INTERFACE_PAGE && section.title !== SET_UP_SECTION;
    const isOutranked = DEVELOPER_PAGE.test(section.page) !== isAboutInside || isOfInterface;
    const isReference = names.length === 0 && isTableOfReference(section);
    if (FIELDS_PAGE.test(section.page) && !asksMeaning) return FIELDS_WEIGHT;
    return (
      (isDefinition ? DEFINITION_WEIGHT : isReference ? REFERENCE_WEIGHT : 1) * (isOutranked ? OUTRANKED_WEIGHT : 1)
    );
  };
}

function isTableOfReference({ page, blocks }: DocSection): boolean {
  return REFERENCE_PAGE.test(page) && blocks.filter((block) => TABLE_ROW.test(block)).length > blocks.length / 2;
}

function languageOf(section: DocSection | undefined): Language {
  return CHINESE_PAGE.test(section?.page ?? '') ? 'zh' : 'en';
}

async function pagesOf(dir: string): Promise<string[]> {
  const names = await readdir(join(dir, 'docs'), { recursive: true }).catch(() => []);
  return [
    'README.md',
    'README.zh-CN.md',
    ...names
      .map((name) => `docs/${name.replaceAll('\\', '/')}`)
      .filter((page) => page.endsWith('.md') && !NEVER_QUOTED.test(page))
      .sort(),
  ];
}

async function readPage(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}
