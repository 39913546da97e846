import { z } from 'zod';
import { requestSearch, type SearchWeb } from './search-request.ts';

export const BRAVE_URL = 'https://api.search.brave.com';

const answerSchema = z.object({
  web: z.object({
    results: z.array(z.object({ title: z.string(), url: z.string(), description: z.string().nullish() })),
  }),
});

/**
 * Searches with the Brave Search API, which accepts the query only in the URL. @param baseUrl `BRAVE_URL` except in tests
 */
export function createBraveSearch(key: string, baseUrl = BRAVE_URL): SearchWeb {
  return async (query, signal) => {
    const url = new URL(`${baseUrl}/res/v1/web/search`);
    url.searchParams.set('q', query);
    const headers = { 'x-subscription-token': key, accept: 'application/json' };
    const json = await requestSearch(url, { headers }, signal);
    const { web: { results } = { results: [] } } = answerSchema.safeParse(json).data ?? {};
    return results.map(({ title, url: address, description }) => ({ title, url: address, excerpt: description ?? '' }));
  };
}
