import { z } from 'zod';
import { requestSearch, type SearchWeb } from './search-request.ts';

const answerSchema = z.object({
  results: z.array(z.object({ title: z.string(), url: z.string(), content: z.string().nullish() })).catch([]),
});

/**
 * Searches by SearXNG's JSON API, whose `search.formats` must hold `json`. The query goes in the body, so that it stands
 * in no access log. @param baseUrl without a slash at its end
 */
export function createSearxngSearch(baseUrl: string): SearchWeb {
  return async (query, signal) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' };
    const body = new URLSearchParams({ q: query, format: 'json' }).toString();
    const json = await requestSearch(new URL(`${baseUrl}/search`), { method: 'POST', headers, body }, signal);
    const { results = [] } = answerSchema.safeParse(json).data ?? {};
    return results.map(({ title, url, content }) => ({ title, url, excerpt: content ?? '' }));
  };
}
