import { createHash } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { EventLoopYielder } from '../../../shared/event-loop-yielder.ts';
import { DAY_MS, MIB_BYTES, monotonicMs, type NowMs } from '../../../shared/clock.ts';
import type { KnowledgeReport } from '../knowledge-report.ts';
import { SkippedDocuments } from '../skipped-documents.ts';
import type { SitemapDefinition } from '../source-kinds.ts';
import { fetchSitePage, type PageFetchResult } from './fetch-page.ts';
import type { CrawledPage, CrawlState } from './crawl-state.ts';
import { BESIDE_ENDING, storePage, PAGE_NAME, pageName } from './kept-page.ts';
import { listPages, type ListedPage, type PageList } from './list-pages.ts';
import { RequestPacer } from './crawl-delay.ts';
import { RobotsFiles } from './robots-files.ts';
import type { CrawlLock } from './crawl-lock.ts';
import type { CrawlScope } from './crawl-scope.ts';

export type SiteRead = Parameters<KnowledgeReport['siteRead']>[0];

export interface SiteRoundParts {
  site: SitemapDefinition;
  /** Where the site's pages are stored. */
  folder: string;
  asked: CrawlState;
  borders: CrawlScope;
  claim: Pick<CrawlLock, 'check'>;
  nowMs: NowMs;
  /** Total for all pages of a site. Defaults to 1 GiB. */
  maxBytes?: number;
}

/** How long an unchanged `lastmod` makes a new fetch unnecessary. */
const FRESH_MS = 7 * DAY_MS;
const MAX_BYTES = 1_024 * MIB_BYTES;
/** Consecutive failures after which a crawl stops. */
const MAX_FAILURES_IN_ROW = 10;

/** One crawl of a site (SECURITY.md site-borders, site-asked-gently). */
export class SiteCrawl {
  readonly #parts: SiteRoundParts;
  readonly #pace: RequestPacer;
  readonly #leftOut = new SkippedDocuments();
  readonly #counts = { fetched: 0, unchanged: 0, gone: 0, failed: 0 };
  /** By file name. */
  readonly #sizes = new Map<string, number>();
  #totalBytes = 0;
  /** Final addresses of this crawl. A page with two listed addresses is stored once. */
  readonly #found = new Set<string>();
  #failuresInRow = 0;

  constructor(parts: SiteRoundParts) {
    this.#parts = parts;
    this.#pace = new RequestPacer(parts.site.pauseMs);
  }

  /** @throws SourceError if the sitemap cannot be read; ClaimLostError; the system's error; the signal's reason */
  async run(signal: AbortSignal): Promise<SiteRead> {
    const beganMs = monotonicMs();
    const { site, borders, claim } = this.#parts;
    await this.#measure();
    const list = await listPages({ site, borders, pace: this.#pace, leftOut: this.#leftOut }, signal);
    await claim.check();
    await this.#dropUnlisted(list);
    const robots = new RobotsFiles(borders.ofSitemaps, this.#pace);
    for (const page of list.pages.values()) {
      signal.throwIfAborted();
      await claim.check();
      await this.#look(page, robots, signal);
      if (this.#failuresInRow >= MAX_FAILURES_IN_ROW) break;
    }
    return {
      source: site.name,
      fault: this.#failuresInRow >= MAX_FAILURES_IN_ROW ? 'away' : undefined,
      pages: this.#sizes.size,
      ...this.#counts,
      leftOut: this.#leftOut.reasons(),
      durationMs: Math.round(monotonicMs() - beganMs),
    };
  }

  /** Compares the stored files with the recorded state. They may differ because files were lost or a process crashed. */
  async #measure(): Promise<void> {
    const { folder, asked } = this.#parts;
    for (const name of await readdir(folder)) {
      if (name.endsWith(BESIDE_ENDING)) await rm(join(folder, name), { force: true });
      if (!PAGE_NAME.test(name)) continue;
      const stats = await stat(join(folder, name)).catch(() => undefined);
      if (stats) this.#setSize(name, stats.size);
    }
    for (const name of asked.names())
      if (this.#sizes.get(name) !== asked.get(name)?.sizeBytes) await asked.note(name, undefined);
  }

  async #dropUnlisted({ pages, isWhole }: PageList): Promise<void> {
    if (!isWhole) return;
    const yielder = new EventLoopYielder();
    const listed = new Set<string>();
    for (const address of pages.keys()) {
      listed.add(pageName(address));
      if (yielder.isDue) await yielder.yieldNow();
    }
    for (const name of this.#sizes.keys()) if (!listed.has(name)) await this.#drop(name);
  }

  async #look(page: ListedPage, robots: RobotsFiles, signal: AbortSignal): Promise<void> {
    const { asked, borders, claim, nowMs } = this.#parts;
    const name = pageName(page.url.href);
    const verdict = await robots.judge(page.url, signal);
    if (verdict !== 'yes') {
      if (verdict === 'unknown') this.#fail();
      else await this.#leave('robots', page, name);
      return;
    }
    const known = asked.get(name);
    if (known && this.#isFresh(page, known)) {
      await this.#keepAsItIs(page, name, known);
      return;
    }
    const ask = () => fetchSitePage(page.url.href, { egress: borders.ofPages, known, nowMs }, signal);
    let answer = await this.#pace.next(ask, signal);
    if (answer.kind === 'failed' && answer.waitMs !== undefined) {
      await this.#pace.wait(answer.waitMs, signal);
      answer = await this.#pace.next(ask, signal);
    }
    // The fetch may have taken long.
    await claim.check();
    await this.#take(page, name, known, answer);
  }

  #isFresh({ lastModified }: ListedPage, { listedAs, askedAtMs }: CrawledPage): boolean {
    const ageMs = this.#parts.nowMs() - askedAtMs;
    return lastModified !== undefined && lastModified === listedAs && ageMs >= 0 && ageMs < FRESH_MS;
  }

  async #take(page: ListedPage, name: string, known: CrawledPage | undefined, answer: PageFetchResult): Promise<void> {
    if (answer.kind === 'failed') {
      this.#fail();
      return;
    }
    this.#failuresInRow = 0;
    if (answer.kind === 'gone') await this.#leave(answer.reason, page, name);
    else if (answer.kind === 'page') await this.#takePage(page, name, known, answer);
    else if (known) await this.#keepAsItIs(page, name, this.#askedNow(page, known));
  }

  async #takePage(
    page: ListedPage,
    name: string,
    known: CrawledPage | undefined,
    { answer, body, etag, lastModified }: Extract<PageFetchResult, { kind: 'page' }>,
  ): Promise<void> {
    const { folder, asked } = this.#parts;
    const { mediaType, charset } = answer;
    const url = answer.url.href;
    const digest = await digestOf([Buffer.from(`${url}\n${mediaType}\n${charset ?? ''}\n`), ...body]);
    const bodyBytes = body.reduce((sum, { length }) => sum + length, 0);
    const now = { digest, url, etag, lastModified };
    if (known?.digest === digest) {
      await this.#keepAsItIs(page, name, this.#askedNow(page, { ...now, sizeBytes: known.sizeBytes }));
      return;
    }
    if (this.#found.has(url)) {
      await this.#leave('same_page', page, name);
      return;
    }
    if (this.#totalBytes - (this.#sizes.get(name) ?? 0) + bodyBytes > (this.#parts.maxBytes ?? MAX_BYTES)) {
      await this.#leave('site_full', page, name);
      return;
    }
    const date = dayOf(page.lastModified) ?? dayOf(lastModified);
    const sizeBytes = await storePage(folder, name, { head: { url, mediaType, charset, date }, body });
    this.#setSize(name, sizeBytes);
    this.#found.add(url);
    this.#counts.fetched += 1;
    await asked.note(name, this.#askedNow(page, { ...now, sizeBytes }));
  }

  async #keepAsItIs(page: ListedPage, name: string, known: CrawledPage): Promise<void> {
    if (this.#found.has(known.url)) {
      await this.#leave('same_page', page, name);
      return;
    }
    this.#found.add(known.url);
    this.#counts.unchanged += 1;
    if (this.#parts.asked.get(name) !== known) await this.#parts.asked.note(name, known);
  }

  #askedNow({ lastModified }: ListedPage, known: Omit<CrawledPage, 'askedAtMs' | 'listedAs'>): CrawledPage {
    return { ...known, askedAtMs: this.#parts.nowMs(), listedAs: lastModified };
  }

  async #leave(reason: string, { url }: ListedPage, name: string): Promise<void> {
    this.#leftOut.add(reason, url.href);
    await this.#drop(name);
  }

  async #drop(name: string): Promise<void> {
    const { folder, asked } = this.#parts;
    await rm(join(folder, name), { force: true });
    if (this.#sizes.has(name)) this.#counts.gone += 1;
    this.#setSize(name, undefined);
    await asked.note(name, undefined);
  }

  #fail(): void {
    this.#counts.failed += 1;
    this.#failuresInRow += 1;
  }

  #setSize(name: string, sizeBytes: number | undefined): void {
    this.#totalBytes += (sizeBytes ?? 0) - (this.#sizes.get(name) ?? 0);
    if (sizeBytes === undefined) this.#sizes.delete(name);
    else this.#sizes.set(name, sizeBytes);
  }
}

async function digestOf(pieces: readonly Buffer[]): Promise<string> {
  const yielder = new EventLoopYielder();
  const hash = createHash('sha256');
  for (const piece of pieces) {
    if (yielder.isDue) await yielder.yieldNow();
    hash.update(piece);
  }
  return hash.digest('hex');
}

/** @returns `YYYY-MM-DD`; undefined if it is not a date */
function dayOf(written: string | undefined): string | undefined {
  if (written === undefined) return undefined;
  const day = /^\d{4}-\d{2}-\d{2}(?!\d)/.exec(written)?.[0];
  if (day !== undefined) return day;
  const atMs = /^[A-Z][a-z]{2,8}, /.test(written) ? Date.parse(written) : NaN;
  return Number.isNaN(atMs) ? undefined : new Date(atMs).toISOString().slice(0, 10);
}
