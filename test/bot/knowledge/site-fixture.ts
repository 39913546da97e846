import { HOUR_MS } from '../../../src/shared/clock.ts';
import type { SiteRead } from '../../../src/bot/knowledge/site/read-site.ts';
import { sitemapOf, startSmallSite, type SitePage, type SmallSite } from '../../support/small-site.ts';
import { KnowledgeFixture } from './knowledge-fixture.ts';

type FixtureOptions = ConstructorParameters<typeof KnowledgeFixture>[0];

/** Knowledge over a small site, with a manual clock. */
export class SiteFixture {
  readonly site: SmallSite;
  readonly knowledge: KnowledgeFixture;
  nowMs = Date.parse('2026-11-24T08:00:00Z');

  private constructor(site: SmallSite, options: FixtureOptions) {
    this.site = site;
    this.knowledge = new KnowledgeFixture({ nowMs: () => this.nowMs, ...options });
  }

  static async start(options: FixtureOptions = {}, site?: SmallSite): Promise<SiteFixture> {
    return new SiteFixture(site ?? (await startSmallSite()), options);
  }

  url(path: string): string {
    return this.site.url + path;
  }

  /** Serves pages and a sitemap that lists them. */
  serve(pages: Record<string, string | SitePage>, lastmods: Record<string, string> = {}): void {
    for (const [path, page] of Object.entries(pages))
      this.site.pages.set(path, typeof page === 'string' ? { body: page } : page);
    const listed = Object.keys(pages).filter((path) => !path.endsWith('.xml') && path !== '/robots.txt');
    this.list(listed, lastmods);
  }

  list(paths: readonly string[], lastmods: Record<string, string> = {}): void {
    const entries = paths.map((path) => {
      const [address, lastmod] = [path.startsWith('/') ? this.url(path) : path, lastmods[path]];
      return lastmod === undefined ? address : ([address, lastmod] as const);
    });
    this.site.pages.set('/sitemap.xml', sitemapOf(entries));
  }

  source(more: object = {}): object {
    return { name: 'site', sitemap: this.url('/sitemap.xml'), readers: 'public', pauseSec: 0.05, ...more };
  }

  /** Runs the first crawl of the site. */
  async read(more: object = {}): Promise<SiteRead> {
    this.knowledge.use(this.source(more));
    return this.ended(1);
  }

  /** Advances the clock, by default by one day, and waits for the next crawl. */
  async readAgain(hours = 24): Promise<SiteRead> {
    const rounds = this.knowledge.told.siteRead.length;
    this.site.asked.length = 0;
    this.nowMs += hours * HOUR_MS;
    return this.ended(rounds + 1);
  }

  async ended(rounds: number): Promise<SiteRead> {
    await this.knowledge.until(() => this.knowledge.told.siteRead.length >= rounds);
    return this.knowledge.told.siteRead[rounds - 1] as SiteRead;
  }

  /** Paths requested since the last crawl began, without robots.txt and sitemaps. */
  asked(): string[] {
    return this.site.asked.map(({ path }) => path).filter((path) => !/^\/(robots\.txt|.*\.xml(\.gz)?)$/.test(path));
  }

  /** Waits until a search finds exactly these titles. */
  async found(query: string, ...titles: string[]): Promise<void> {
    await this.knowledge.until(async () => (await this.knowledge.titles(query)).sort().join() === titles.sort().join());
  }

  async end(): Promise<void> {
    await this.knowledge.end();
    await this.site.close();
  }
}

export const page = (title: string, text: string) => `<!doctype html><title>${title}</title><p>${text}</p>`;
