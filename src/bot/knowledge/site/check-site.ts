import { SECOND_MS } from '../../../shared/clock.ts';
import { PUBLIC_WEB } from '../../../shared/web/egress-policy.ts';
import { SourceError } from '../remote-source.ts';
import type { CheckSource, SourceFinding } from '../source-check.ts';
import type { SitemapDefinition } from '../source-kinds.ts';
import { readSitemapAt } from './list-pages.ts';
import { siteBorders } from './crawl-scope.ts';

const ANSWER_LIMIT_MS = 20 * SECOND_MS;

/** Reads the site's sitemap once, and none that it names. No page is asked for. */
export const checkSite: CheckSource<SitemapDefinition> = async (definition, signal) => {
  const { host, pathname } = new URL(definition.sitemap);
  const place = host + pathname;
  const ending = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_LIMIT_MS)]);
  try {
    return judge(await listed(definition, ending), place, definition);
  } catch (error) {
    signal.throwIfAborted();
    if (ending.aborted) return { verdict: 'fault', detail: `${place} gives no sitemap in time`, nextStep: REACH };
    if (!(error instanceof SourceError)) throw error;
    return { verdict: 'fault', detail: `${place}: ${error.message}`, nextStep: STEPS[error.code] };
  }
};

const REACH = 'see to the site, or open the way to it from this machine';
const STEPS = {
  away: REACH,
  late: REACH,
  refused: 'write the address to which it leads in the end; it must want no sign-in',
  failed: 'write the address of its sitemap in XML, or of a list of addresses',
};

interface Listed {
  pages: number;
  /** Pages that lie outside of the site's borders. */
  outside: number;
  sitemaps: number;
}

/** @throws SourceError; the signal's reason */
async function listed(definition: SitemapDefinition, signal: AbortSignal): Promise<Listed> {
  const borders = siteBorders(definition, PUBLIC_WEB.resolve);
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
  const more = outside === 0 ? '' : `, ${outside} of them outside of its borders`;
  const detail =
    sitemaps > 0
      ? `${place} names ${counted(sitemaps)}`
      : `${place} lists ${pages === 1 ? 'one page' : `${pages} pages`}${more}`;
  if (pages > 0 && outside === pages)
    return { verdict: 'warning', detail, nextStep: 'name in "under" of this source where its pages lie' };
  if (readers !== 'nobody') return { verdict: 'ok', detail };
  return {
    verdict: 'warning',
    detail: `${detail}; it has no readers, so that nobody is given anything of it`,
    nextStep: 'say in KNOWLEDGE_FILE who may read it, "public" or a who',
  };
}

function counted(sitemaps: number): string {
  return sitemaps === 1 ? 'another sitemap' : `${sitemaps} other sitemaps`;
}
