import { Readable } from 'node:stream';
import { MIB_BYTES, SECOND_MS } from '../../../shared/clock.ts';
import { SerialQueue } from '../../../shared/serial-queue.ts';
import type { EgressPolicy } from '../../../shared/web/egress-policy.ts';
import { fetchAddress } from '../../../shared/web/fetch-address.ts';
import { readPlainPieces } from '../../../shared/web/read-plain-body.ts';
import { WebError } from '../../../shared/web/web-error.ts';
import type { LeftOut } from '../skipped-documents.ts';
import { SourceError } from '../remote-source.ts';
import type { SitemapDefinition } from '../source-kinds.ts';
import type { Pace } from './crawl-delay.ts';
import { readSitemap, type SitemapEntry, type SitemapKind } from './read-sitemap.ts';
import type { SiteBorders } from './crawl-scope.ts';

/** A page that a site's sitemap names. */
export interface ListedPage {
  url: URL;
  /** As the sitemap says it. */
  lastModified?: string;
}

export interface PageList {
  /** By address; what stands first comes first. */
  pages: ReadonlyMap<string, ListedPage>;
  /** Whether all of it could be read, so that what is not on it is not there. */
  isWhole: boolean;
}

export interface ListParts {
  site: Pick<SitemapDefinition, 'sitemap' | 'mostPages'>;
  borders: SiteBorders;
  pace: Pace;
  leftOut: LeftOut;
}

/** After decompression; the protocol has 50 MiB for the few who need as many. */
const MOST_BYTES = 20 * MIB_BYTES;
const MOST_CHILDREN = 50;
const REDIRECTS = 3;
const TOTAL_MS = 60 * SECOND_MS;
const ACCEPT = 'application/xml, text/xml, text/plain;q=0.9, application/gzip;q=0.9, */*;q=0.1';

const lane = new SerialQueue(1);

/**
 * Lists the pages of a site, by its sitemap and those that it names itself; these name no further ones. What lies outside of the
 * site's borders is none of its pages.
 * @throws SourceError where the sitemap gives nothing; the signal's reason
 */
export async function listPages({ site, borders, pace, leftOut }: ListParts, signal: AbortSignal): Promise<PageList> {
  const pages = new Map<string, ListedPage>();
  const takePage = ({ address, lastModified }: SitemapEntry) => {
    const url = borders.pageAt(address);
    if (!url) leftOut.add('outside', address.slice(0, MOST_SHOWN_CHARS));
    else if (pages.has(url.href)) return;
    else if (pages.size >= site.mostPages) leftOut.add('too_many', url.href);
    else pages.set(url.href, { url, lastModified });
  };
  const children = new Set<string>();
  const takeChild = ({ address }: SitemapEntry) => {
    const url = borders.sitemapAt(address);
    if (!url || url.href === site.sitemap) leftOut.add('sitemap_outside', address.slice(0, MOST_SHOWN_CHARS));
    else if (children.size >= MOST_CHILDREN && !children.has(url.href)) leftOut.add('too_many_sitemaps', url.href);
    else children.add(url.href);
  };
  const read = (address: string, takers: Takers) =>
    // Long lists take memory, so one is read at a time, of whichever site.
    pace.next(() => lane.run(site.sitemap, () => readSitemapAt(address, borders.ofSitemaps, takers, signal)), signal);
  await read(site.sitemap, { pages: takePage, sitemaps: takeChild });
  let isWhole = true;
  const tooDeep = ({ address }: SitemapEntry) => leftOut.add('sitemap_too_deep', address.slice(0, MOST_SHOWN_CHARS));
  for (const child of children)
    try {
      await read(child, { pages: takePage, sitemaps: tooDeep });
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      leftOut.add('sitemap_unread', child);
      // One that is gone for good lists nothing; of any other one nobody knows what it lists.
      if (!(error instanceof GoneError)) isWhole = false;
    }
  return { pages, isWhole };
}

const MOST_SHOWN_CHARS = 200;

type Takers = Readonly<Record<SitemapKind, (entry: SitemapEntry) => void>>;

class GoneError extends SourceError {}

/** Fetches a sitemap and gives its entries to whoever takes such. @throws SourceError; the signal's reason */
export async function readSitemapAt(
  address: string,
  egress: EgressPolicy,
  takers: Takers,
  signal: AbortSignal,
): Promise<void> {
  try {
    const asked = { egress, redirects: REDIRECTS, totalMs: TOTAL_MS, accept: ACCEPT, mostBytesOf: () => MOST_BYTES };
    const { status, body } = await fetchAddress(address, asked, signal);
    if (status === 404 || status === 410) throw new GoneError('failed', 'There is no such sitemap');
    if (!body) throw new SourceError(faultOf(status), `The sitemap is answered with status ${status}`);
    const kind = await readSitemap(await unpacked(body), (entry, of) => takers[of](entry), signal);
    if (!kind) throw new SourceError('failed', 'The address leads to no sitemap');
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof WebError)) throw error;
    throw new SourceError(FAULTS[error.code], 'The sitemap cannot be read');
  }
}

const FAULTS = { refused: 'refused', unreachable: 'away', too_large: 'failed', unusable: 'failed' } as const;

function faultOf(status: number): 'refused' | 'away' | 'failed' {
  if (status === 401 || status === 403) return 'refused';
  return status >= 500 || status === 429 ? 'away' : 'failed';
}

/** A file that is compressed itself, whatever the answer says of it. @throws WebError */
async function unpacked(body: readonly Buffer[]): Promise<readonly Buffer[]> {
  const [first] = body;
  if (first?.[0] !== 0x1f || first[1] !== 0x8b) return body;
  return readPlainPieces(Readable.from(body), 'gzip', MOST_BYTES);
}
