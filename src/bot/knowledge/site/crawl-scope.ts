import type { EgressPolicy } from '../../../shared/web/egress-policy.ts';
import { isPrivateAddress, isLoopback } from '../../../shared/web/inside-address.ts';
import { isPublicAddress } from '../../../shared/web/public-address.ts';
import type { SitemapDefinition } from '../source-kinds.ts';

/** Which addresses a crawl may fetch (SECURITY.md site-borders). */
export interface CrawlScope {
  /**
   * @param written the address as listed in a sitemap
   * @returns the address to fetch; undefined if it is outside the site
   */
  pageAt(written: string): URL | undefined;
  /** The same for a nested sitemap. */
  sitemapAt(written: string): URL | undefined;
  /** For pages: only addresses under the configured prefixes. */
  ofPages: EgressPolicy;
  /** For sitemaps and robots.txt: also the sitemap's own origin. */
  ofSitemaps: EgressPolicy;
}

/** The limit of the sitemap protocol. */
const MAX_ADDRESS_CHARS = 2_048;
const STEP_UP = /(?:^|[/\\])\.\.(?:[/\\]|$)/;

/** @param resolve DNS lookup, as in the rules for the public web */
export function createCrawlScope(
  { sitemap, under }: Pick<SitemapDefinition, 'sitemap' | 'under'>,
  resolve: EgressPolicy['resolve'],
): CrawlScope {
  const { origin, hostname } = new URL(sitemap);
  // Loopback addresses are allowed only if the sitemap itself is on one, for local testing.
  const mayBeHere = /^(localhost|\[::1\]|127(\.\d{1,3}){3})$/.test(hostname);
  const isPage = (url: URL) => under.some((prefix) => liesUnder(url, prefix));
  const isSitemap = (url: URL) => url.origin === origin || isPage(url);
  // Any port is allowed, because the prefixes already restrict it.
  const policy = (mayOpen: (url: URL) => boolean): EgressPolicy => ({
    protocols: ['https:', 'http:'],
    mayUsePort: () => true,
    mayConnect: (address) =>
      isPublicAddress(address) || isPrivateAddress(address) || (mayBeHere && isLoopback(address)),
    mayOpen,
    resolve,
  });
  // robots.txt or a sitemap may redirect to an origin of the pages.
  const origins: ReadonlySet<string> = new Set([origin, ...under.map((prefix) => new URL(prefix).origin)]);
  return {
    pageAt: (written) => addressIn(written, isPage),
    sitemapAt: (written) => addressIn(written, isSitemap),
    ofPages: policy(isPage),
    ofSitemaps: policy((url) => origins.has(url.origin)),
  };
}

/** Upgrades http to https if the site allows both. */
function addressIn(written: string, isAllowed: (url: URL) => boolean): URL | undefined {
  if (written.length > MAX_ADDRESS_CHARS || !URL.canParse(written)) return undefined;
  const url = new URL(written);
  url.hash = '';
  if (url.username !== '' || url.password !== '') return undefined;
  if (isAllowed(url)) return url;
  if (url.protocol !== 'http:') return undefined;
  const twin = new URL(url);
  twin.protocol = 'https:';
  return isAllowed(twin) ? twin : undefined;
}

function liesUnder(url: URL, prefix: string): boolean {
  const place = url.origin + url.pathname;
  // Some servers decode percent-encoded slashes or dots only after their access checks.
  return (place.startsWith(prefix) || `${place}/` === prefix) && !STEP_UP.test(decoded(url.pathname));
}

function decoded(pathname: string): string {
  try {
    return decodeURIComponent(pathname);
  } catch {
    return pathname;
  }
}
