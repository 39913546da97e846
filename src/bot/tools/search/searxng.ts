import { z } from 'zod';
import { requestSearch, type SearchWeb } from './search-request.ts';

const answerSchema = z.object({
  results: z.array(z.object({ title: z.string(), url: z.string(), content: z.string().nullish() })).catch([]),
});

/**
 * Searches with SearXNG's JSON API, whose `search.formats` must include `json`. The query is sent in the body to keep it out
 * of access logs. @param baseUrl without a trailing slash
 */
export function createSearxngSearch(baseUrl: string): SearchWeb {
  return async (query, signal) => {
    const call = { headers: { accept: 'application/json' }, form: { q: query, format: 'json' } };
    const json = await requestSearch(new URL(`${baseUrl}/search`), call, signal);
    const { results = [] } = answerSchema.safeParse(json).data ?? {};
    return results.map(({ title, url, content }) => ({ title, url, excerpt: content ?? '' }));
  };
}
