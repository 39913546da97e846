import { mkdirSync } from 'node:fs';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { HOUR_MS, MINUTE_MS, monotonicMs, SECOND_MS, type NowMs } from '../../../shared/clock.ts';
import { hashParts } from '../../../shared/crypto/ids.ts';
import { inBackground } from '../../../shared/in-background.ts';
import type { EgressPolicy } from '../../../shared/web/egress-policy.ts';
import type { LocalSource } from '../index/local-index.ts';
import type { KnowledgeReport } from '../knowledge-report.ts';
import { SourceError } from '../remote-source.ts';
import type { SitemapDefinition } from '../source-kinds.ts';
import { usableFolder } from '../usable-folder.ts';
import { CrawlState } from './crawl-state.ts';
import { SiteCrawl, type SiteRead } from './read-site.ts';
import { ClaimLostError, CrawlLocks, type ClaimTimes } from './crawl-lock.ts';
import { createCrawlScope } from './crawl-scope.ts';
import { parseJson } from '../../../shared/parse-json.ts';

export interface SiteKeeperParts {
  /** Where pages are stored, one folder per site. */
  folder: string;
  report: Pick<KnowledgeReport, 'siteRead'>;
  nowMs: NowMs;
  /** DNS lookup, as in the rules for the public web. */
  resolve: EgressPolicy['resolve'];
  claimTimes?: ClaimTimes;
  /** How often to check whether a crawl is due. Defaults to 30 s. */
  lookEveryMs?: number;
  /** Total for all pages of a site. Defaults to 1 GiB. */
  maxBytes?: number;
}

const CLAIM_TIMES: ClaimTimes = { renewMs: 30 * SECOND_MS, lostAfterMs: 5 * MINUTE_MS };
const LOOK_EVERY_MS = 30 * SECOND_MS;
/** Delay before a failed crawl is repeated. */
const AGAIN_AFTER_MS = HOUR_MS;
const KEY_CHARS = 16;
const KEY = /^[0-9a-f]{16}$/;
/** A dot folder, which the index ignores. */
const ROUND_FOLDER = '.round';

const endedSchema = z.object({ endedAtMs: z.number(), isWhole: z.boolean() });

interface KeptSite {
  site: SitemapDefinition;
  ending: AbortController;
  running: Promise<void>;
}

/**
 * Crawls the configured sites periodically and stores their pages for the index. Among all processes that share the folder,
 * one at a time crawls a site (SECURITY.md site-asked-gently).
 */
export class SiteKeeper {
  readonly #parts: SiteKeeperParts;
  readonly #sites = new Map<string, KeptSite>();
  /** Removed sites that are still stopping. Their files are deleted afterwards. */
  readonly #leaving = new Set<Promise<void>>();

  constructor(parts: SiteKeeperParts) {
    this.#parts = parts;
  }

  /** Replaces all sites. @returns the sources for the index */
  use(sites: readonly SitemapDefinition[]): LocalSource[] {
    const root = sites.length > 0 ? (usableFolder(this.#parts.folder) ?? this.#parts.folder) : this.#parts.folder;
    const wanted = new Map<string, SitemapDefinition>();
    for (const site of sites) wanted.set(keyOf(site), wanted.get(keyOf(site)) ?? site);
    for (const [key, { ending, running }] of this.#sites)
      if (!wanted.has(key)) {
        ending.abort();
        this.#sites.delete(key);
        const left = running.finally(() => this.#leaving.delete(left));
        this.#leaving.add(left);
      }
    for (const [key, site] of wanted) {
      const known = this.#sites.get(key);
      if (known) known.site = site;
      else this.#begin(key, site, join(root, key));
    }
    inBackground(() => this.#forget(root));
    return sites.map((site) => ({
      kind: 'pages',
      name: site.name,
      readers: site.readers,
      folder: join(root, keyOf(site)),
    }));
  }

  async close(): Promise<void> {
    for (const { ending } of this.#sites.values()) ending.abort();
    await Promise.all([...this.#sites.values()].map(({ running }) => running));
    await Promise.all(this.#leaving);
  }

  #begin(key: string, site: SitemapDefinition, folder: string): void {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
    } catch {
      // The crawl will fail and report it.
    }
    const ending = new AbortController();
    const kept: KeptSite = { site, ending, running: Promise.resolve() };
    kept.running = this.#keep(kept, folder).catch(() => undefined);
    this.#sites.set(key, kept);
  }

  /** Deletes the stored pages of sites that are no longer configured. */
  async #forget(root: string): Promise<void> {
    await Promise.all(this.#leaving);
    const names = await readdir(root).catch(() => []);
    for (const name of names)
      if (KEY.test(name) && !this.#sites.has(name)) await rm(join(root, name), { recursive: true, force: true });
  }

  async #keep(kept: KeptSite, folder: string): Promise<void> {
    const { signal } = kept.ending;
    const { claimTimes = CLAIM_TIMES, lookEveryMs = LOOK_EVERY_MS } = this.#parts;
    const claims = new CrawlLocks(join(folder, ROUND_FOLDER), claimTimes);
    let againAtMs = -Infinity;
    while (!signal.aborted) {
      if (monotonicMs() >= againAtMs)
        await this.#readIfDue(kept, folder, claims).catch((error: unknown) => {
          if (signal.aborted || error instanceof ClaimLostError) return;
          // For example a full or missing disk, which is not the site's fault.
          againAtMs = monotonicMs() + AGAIN_AFTER_MS;
          this.#parts.report.siteRead(nothingRead(kept.site, 'failed'));
        });
      await sleep(lookEveryMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async #readIfDue(kept: KeptSite, folder: string, claims: CrawlLocks): Promise<void> {
    if (!(await this.#isDue(kept.site, folder))) return;
    const claim = await claims.take();
    if (!claim) return;
    try {
      // Another process may have finished a crawl in the meantime.
      if (await this.#isDue(kept.site, folder)) await this.#read(kept, folder, claim);
    } finally {
      await claim.release();
    }
  }

  async #read(
    { site, ending: { signal } }: KeptSite,
    folder: string,
    claim: { check(): Promise<void> },
  ): Promise<void> {
    const { nowMs, resolve, maxBytes } = this.#parts;
    const borders = createCrawlScope(site, resolve);
    const asked = await CrawlState.load(join(folder, ROUND_FOLDER, 'asked'));
    let read: SiteRead;
    try {
      read = await new SiteCrawl({ site, folder, asked, borders, claim, nowMs, maxBytes }).run(signal);
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      read = { ...nothingRead(site, error.code), pages: asked.names().length };
    }
    signal.throwIfAborted();
    await claim.check();
    await asked.tidy();
    await writeWhole(join(folder, ROUND_FOLDER, 'ended.json'), {
      endedAtMs: nowMs(),
      isWhole: read.fault === undefined,
    });
    this.#parts.report.siteRead(read);
  }

  /** If the clock was set back, the crawl is due. */
  async #isDue({ everyMs }: SitemapDefinition, folder: string): Promise<boolean> {
    const text = await readFile(join(folder, ROUND_FOLDER, 'ended.json'), 'utf8').catch(() => '{}');
    const ended = endedSchema.safeParse(parseJson(text)).data;
    if (!ended) return true;
    const ageMs = this.#parts.nowMs() - ended.endedAtMs;
    return ageMs < 0 || ageMs >= (ended.isWhole ? everyMs : Math.min(everyMs, AGAIN_AFTER_MS));
  }
}

function keyOf({ sitemap, under }: SitemapDefinition): string {
  return hashParts(sitemap, ...[...under].sort()).slice(0, KEY_CHARS);
}

function nothingRead({ name }: SitemapDefinition, fault: SiteRead['fault']): SiteRead {
  return { source: name, fault, pages: 0, fetched: 0, unchanged: 0, gone: 0, failed: 0, leftOut: [], durationMs: 0 };
}

async function writeWhole(path: string, value: z.output<typeof endedSchema>): Promise<void> {
  await writeFile(`${path}.new`, JSON.stringify(value), { mode: 0o600 });
  await rename(`${path}.new`, path);
}
