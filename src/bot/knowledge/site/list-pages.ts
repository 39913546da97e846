import { Readable } from 'node:stream';
import { MIB_BYTES, SECOND_MS } from '../../../shared/clock.ts';
import { SerialQueue } from '../../../shared/serial-queue.ts';
import type { EgressPolicy } from '../../../shared/web/egress-policy.ts';
import { fetchAddress } from '../../../shared/web/fetch-address.ts';
import { readPlainPieces } from '../../../shared/web/read-plain-body.ts';
import { WebError } from '../../../shared/web/web-error.ts';
import type { SkippedDocuments } from '../skipped-documents.ts';
import { SourceError } from '../remote-source.ts';
import type { SitemapDefinition } from '../source-kinds.ts';
import type { RequestPacer } from './crawl-delay.ts';
import { readSitemap, type SitemapEntry, type SitemapKind } from './read-sitemap.ts';
import type { CrawlScope } from './crawl-scope.ts';

/** A page listed in a site's sitemap. */
export interface ListedPage {
  url: URL;
  /** The sitemap's `lastmod`, unchanged. */
  lastModified?: string;
}

export interface PageList {
  /** By address, in sitemap order. */
  pages: ReadonlyMap<string, ListedPage>;
  /** Whether all sitemaps could be read, so that unlisted pages can be deleted. */
  isWhole: boolean;
}

export interface ListParts {
  site: Pick<SitemapDefinition, 'sitemap' | 'mostPages'>;
  borders: CrawlScope;
  pace: RequestPacer;
  leftOut: SkippedDocuments;
}

/** After decompression. The protocol allows 50 MiB. */
const MAX_BYTES = 20 * MIB_BYTES;
const MAX_CHILDREN = 50;
const REDIRECTS = 3;
const TOTAL_MS = 60 * SECOND_MS;
const ACCEPT = 'application/xml, text/xml, text/plain;q=0.9, application/gzip;q=0.9, */*;q=0.1';

const lane = new SerialQueue(1);

/**
 * Lists the pages of a site from its sitemap and one level of nested sitemaps. Addresses outside the crawl scope are
 * ignored.
 * @throws SourceError if the sitemap cannot be read; the signal's reason
 */
export async function listPages({ site, borders, pace, leftOut }: ListParts, signal: AbortSignal): Promise<PageList> {
  const pages = new Map<string, ListedPage>();
  const takePage = ({ address, lastModified }: SitemapEntry) => {
    const url = borders.pageAt(address);
    if (!url) leftOut.add('outside', address.slice(0, MAX_SHOWN_CHARS));
    else if (pages.has(url.href)) return;
    else if (pages.size >= site.mostPages) leftOut.add('too_many', url.href);
    else pages.set(url.href, { url, lastModified });
  };
  const children = new Set<string>();
  const takeChild = ({ address }: SitemapEntry) => {
    const url = borders.sitemapAt(address);
    if (!url || url.href === site.sitemap) leftOut.add('sitemap_outside', address.slice(0, MAX_SHOWN_CHARS));
    else if (children.size >= MAX_CHILDREN && !children.has(url.href)) leftOut.add('too_many_sitemaps', url.href);
    else children.add(url.href);
  };
  const read = (address: string, takers: Takers) =>
    // Long lists use much memory, so one sitemap is read at a time across all sites.
    pace.next(() => lane.run(site.sitemap, () => readSitemapAt(address, borders.ofSitemaps, takers, signal)), signal);
  await read(site.sitemap, { pages: takePage, sitemaps: takeChild });
  let isWhole = true;
  const tooDeep = ({ address }: SitemapEntry) => leftOut.add('sitemap_too_deep', address.slice(0, MAX_SHOWN_CHARS));
  for (const child of children)
    try {
      await read(child, { pages: takePage, sitemaps: tooDeep });
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      leftOut.add('sitemap_unread', child);
      // A sitemap that was removed lists no pages. After any other failure the list is incomplete.
      if (!(error instanceof GoneError)) isWhole = false;
    }
  return { pages, isWhole };
}

const MAX_SHOWN_CHARS = 200;

type Takers = Readonly<Record<SitemapKind, (entry: SitemapEntry) => void>>;

class GoneError extends SourceError {}

/** Fetches a sitemap and passes its entries to the taker for its kind. @throws SourceError; the signal's reason */
export async function readSitemapAt(
  address: string,
  egress: EgressPolicy,
  takers: Takers,
  signal: AbortSignal,
): Promise<void> {
  try {
    const asked = { egress, redirects: REDIRECTS, totalMs: TOTAL_MS, accept: ACCEPT, maxBytesOf: () => MAX_BYTES };
    const { status, body } = await fetchAddress(address, asked, signal);
    if (status === 404 || status === 410) throw new GoneError('failed', 'The sitemap does not exist');
    if (!body) throw new SourceError(faultOf(status), `The sitemap returned status ${status}`);
    const kind = await readSitemap(await unpacked(body), (entry, of) => takers[of](entry), signal);
    if (!kind) throw new SourceError('failed', 'The address does not lead to a sitemap');
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

/** Decompresses a file that is itself gzip-compressed, regardless of the response headers. @throws WebError */
async function unpacked(body: readonly Buffer[]): Promise<readonly Buffer[]> {
  const [first] = body;
  if (first?.[0] !== 0x1f || first[1] !== 0x8b) return body;
  return readPlainPieces(Readable.from(body), 'gzip', MAX_BYTES);
}
