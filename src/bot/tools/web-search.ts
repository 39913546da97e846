import { z } from 'zod';
import { localize, type Bilingual } from '../../shared/text/texts.ts';
import { createBraveSearch } from './search/brave.ts';
import type { SearchWeb } from './search/search-request.ts';
import { createSearxngSearch } from './search/searxng.ts';
import { defineTool, type Tool, type ToolModule } from './tool.ts';

export const webSearch: ToolModule<'webSearchUrl', 'webSearchBraveKey'> = {
  name: 'web_search',
  settings: ['webSearchUrl'],
  secrets: ['webSearchBraveKey'],
  create({ settings, secrets }) {
    const search = searchOf(settings.webSearchUrl, secrets.webSearchBraveKey);
    return search && createWebSearch(search);
  },
};

const STATUS: Bilingual = { en: 'Searching: {query}', zh: '正在搜索：{query}' };

const MAX_RESULTS = 8;
const MAX_EXCERPT_CHARS = 500;

const schema = z.strictObject({
  query: z.string().trim().min(1).max(400).describe('What to search for, in a few words.'),
});

/** Finds web pages. The chat service withdrew its native search (SERVICE.md withdrawn-search). */
export function createWebSearch(search: SearchWeb): Tool {
  return defineTool({
    name: webSearch.name,
    description: 'Searches the web and tells titles, addresses and excerpts of the pages that were found.',
    schema,
    findsAddresses: true,
    status: ({ query }, { language }) => localize(STATUS, language, { query }),
    async run({ query }, _, signal) {
      const results = (await search(query, signal))
        .filter(({ url }) => /^https?:\/\//i.test(url))
        .slice(0, MAX_RESULTS);
      if (results.length === 0) return 'Nothing was found.';
      return results
        .map(({ title, url, excerpt }, index) => `${index + 1}. ${plain(title)}\n${url}\n${plain(excerpt)}`.trim())
        .join('\n\n');
    },
  });
}

function searchOf(searxngUrl: string | undefined, braveKey: string | undefined): SearchWeb | undefined {
  if (searxngUrl !== undefined) return createSearxngSearch(searxngUrl);
  return braveKey === undefined ? undefined : createBraveSearch(braveKey);
}

/** One line without the highlighting tags that search services put around matches. */
function plain(text: string): string {
  const line = text
    .replace(/<\/?[a-z][^<>]{0,100}>/gi, '')
    .replace(/\s+/gu, ' ')
    .trim();
  return [...line].slice(0, MAX_EXCERPT_CHARS).join('');
}
