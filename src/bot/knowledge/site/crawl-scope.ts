import type { EgressPolicy } from '../../../shared/web/egress-policy.ts';
import { isInsideAddress, isLoopback } from '../../../shared/web/inside-address.ts';
import { isPublicAddress } from '../../../shared/web/public-address.ts';
import type { SitemapDefinition } from '../source-kinds.ts';

/** What may be opened for a site (SECURITY.md site-borders). */
export interface SiteBorders {
  /** @param written as a sitemap has it @returns the address by which a page is asked; undefined for what is none of the site's */
  pageAt(written: string): URL | undefined;
  /** The same of a sitemap that a sitemap names. */
  sitemapAt(written: string): URL | undefined;
  /** For pages: what lies under the addresses that the administrator named, and nothing else. */
  ofPages: EgressPolicy;
  /** For sitemaps and robots.txt: also what lies where the sitemap does. */
  ofSitemaps: EgressPolicy;
}

/** The sitemaps' own limit. */
const MOST_ADDRESS_CHARS = 2_048;
const STEP_UP = /(?:^|[/\\])\.\.(?:[/\\]|$)/;

/** @param resolve looks a name up, as the public web's rules do */
export function siteBorders(
  { sitemap, under }: Pick<SitemapDefinition, 'sitemap' | 'under'>,
  resolve: EgressPolicy['resolve'],
): SiteBorders {
  const { origin, hostname } = new URL(sitemap);
  // For a try on this machine, and never from a site elsewhere.
  const mayBeHere = /^(localhost|\[::1\]|127(\.\d{1,3}){3})$/.test(hostname);
  const isPage = (url: URL) => under.some((prefix) => liesUnder(url, prefix));
  const isSitemap = (url: URL) => url.origin === origin || isPage(url);
  // Ports are the allow-list's; what is not on it is not asked at any.
  const policy = (mayOpen: (url: URL) => boolean): EgressPolicy => ({
    protocols: ['https:', 'http:'],
    mayUsePort: () => true,
    mayConnect: (address) => isPublicAddress(address) || isInsideAddress(address) || (mayBeHere && isLoopback(address)),
    mayOpen,
    resolve,
  });
  // A redirect of robots.txt or of a sitemap may lead to where pages lie, too.
  const origins: ReadonlySet<string> = new Set([origin, ...under.map((prefix) => new URL(prefix).origin)]);
  return {
    pageAt: (written) => addressIn(written, isPage),
    sitemapAt: (written) => addressIn(written, isSitemap),
    ofPages: policy(isPage),
    ofSitemaps: policy((url) => origins.has(url.origin)),
  };
}

/** Where a site's list says http and https is allowed, https is asked. */
function addressIn(written: string, isAllowed: (url: URL) => boolean): URL | undefined {
  if (written.length > MOST_ADDRESS_CHARS || !URL.canParse(written)) return undefined;
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
  // Some servers read a stroke or a dot that is written as a number only after they looked where it leads.
  return (place.startsWith(prefix) || `${place}/` === prefix) && !STEP_UP.test(decoded(url.pathname));
}

function decoded(pathname: string): string {
  try {
    return decodeURIComponent(pathname);
  } catch {
    return pathname;
  }
}
