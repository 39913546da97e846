import { abortAfter } from '../../../shared/abort-after.ts';
import { SECOND_MS } from '../../../shared/clock.ts';
import { PUBLIC_WEB } from '../../../shared/web/egress-policy.ts';
import { SourceError } from '../remote-source.ts';
import type { CheckSource, SourceFinding } from '../source-check.ts';
import type { SitemapDefinition } from '../source-kinds.ts';
import { readSitemapAt } from './list-pages.ts';
import { createCrawlScope } from './crawl-scope.ts';

const ANSWER_LIMIT_MS = 20 * SECOND_MS;

/** Reads only the site's own sitemap. Fetches no nested sitemaps and no pages. */
export const checkSite: CheckSource<SitemapDefinition> = async (definition, signal) => {
  const { host, pathname } = new URL(definition.sitemap);
  const place = host + pathname;
  const ending = abortAfter(ANSWER_LIMIT_MS, signal);
  try {
    return judge(await listed(definition, ending), place, definition);
  } catch (error) {
    signal.throwIfAborted();
    if (ending.aborted) return { verdict: 'fault', detail: `${place} returns no sitemap in time`, nextStep: REACH };
    if (!(error instanceof SourceError)) throw error;
    return { verdict: 'fault', detail: `${place}: ${error.message}`, nextStep: STEPS[error.code] };
  }
};

const REACH = 'check the site, or allow the connection from this machine';
const STEPS = {
  away: REACH,
  late: REACH,
  refused: 'write the final address after redirects; it must not require a sign-in',
  failed: 'write the address of an XML sitemap or of a list of addresses',
};

interface Listed {
  pages: number;
  /** Pages outside the crawl scope. */
  outside: number;
  sitemaps: number;
}

/** @throws SourceError; the signal's reason */
async function listed(definition: SitemapDefinition, signal: AbortSignal): Promise<Listed> {
  const borders = createCrawlScope(definition, PUBLIC_WEB.resolve);
  const found: Listed = { pages: 0, outside: 0, sitemaps: 0 };
  const pages = ({ address }: { address: string }) => {
    found.pages += 1;
    if (!borders.pageAt(address)) found.outside += 1;
  };
  const sitemaps = () => {
    found.sitemaps += 1;
  };
  await readSitemapAt(definition.sitemap, borders.ofSitemaps, { pages, sitemaps }, signal);
  return found;
}

function judge({ pages, outside, sitemaps }: Listed, place: string, { readers }: SitemapDefinition): SourceFinding {
  const more = outside === 0 ? '' : `, ${outside} of them outside the allowed addresses`;
  const detail =
    sitemaps > 0
      ? `${place} lists ${counted(sitemaps)}`
      : `${place} lists ${pages === 1 ? 'one page' : `${pages} pages`}${more}`;
  if (pages > 0 && outside === pages)
    return { verdict: 'warning', detail, nextStep: 'list the addresses of the pages in "under" of this source' };
  if (readers !== 'nobody') return { verdict: 'ok', detail };
  return {
    verdict: 'warning',
    detail: `${detail}; it has no readers, so no one can find its documents`,
    nextStep: 'set "readers" in KNOWLEDGE_FILE to "public" or a who',
  };
}

function counted(sitemaps: number): string {
  return sitemaps === 1 ? 'another sitemap' : `${sitemaps} other sitemaps`;
}
