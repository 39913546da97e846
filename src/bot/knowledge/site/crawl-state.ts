import { appendFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { EventLoopYielder } from '../../../shared/event-loop-yielder.ts';

/** What is known of a page from its last fetch. */
const askedSchema = z.object({
  /** When the site last confirmed this state. Milliseconds since the epoch. */
  askedAtMs: z.number(),
  /** Size of the stored file. */
  sizeBytes: z.number(),
  /** Digest of the content, to detect unchanged pages. */
  digest: z.string(),
  /** Final address after redirects. */
  url: z.string(),
  /** The sitemap's `lastmod` at that time. */
  listedAs: z.string().optional(),
  etag: z.string().optional(),
  lastModified: z.string().optional(),
});

export type CrawledPage = z.output<typeof askedSchema>;

const lineSchema = z.tuple([z.string(), askedSchema.nullable()]);

/**
 * Stores the fetch state of a site's pages, one line each, so that the next crawl, by any process, can skip unchanged pages.
 * A line left incomplete by a crash is ignored: its page is fetched again.
 */
export class CrawlState {
  readonly #path: string;
  readonly #pages = new Map<string, CrawledPage>();

  private constructor(path: string) {
    this.#path = path;
  }

  static async load(path: string): Promise<CrawlState> {
    const asked = new CrawlState(path);
    const yielder = new EventLoopYielder();
    const text = await readFile(path, 'utf8').catch(() => '');
    for (let at = 0; at < text.length;) {
      const found = text.indexOf('\n', at);
      const end = found < 0 ? text.length : found;
      asked.#take(text.slice(at, end));
      at = end + 1;
      if (yielder.isDue) await yielder.yieldNow();
    }
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    // Terminates an incomplete last line, so that the next one starts on its own line.
    if (text !== '' && !text.endsWith('\n')) await appendFile(path, '\n', { mode: 0o600 });
    return asked;
  }

  get(name: string): CrawledPage | undefined {
    return this.#pages.get(name);
  }

  names(): string[] {
    return [...this.#pages.keys()];
  }

  /** @param page undefined if the page is no longer stored @throws the system's error */
  async note(name: string, page: CrawledPage | undefined): Promise<void> {
    if (page) this.#pages.set(name, page);
    else if (!this.#pages.delete(name)) return;
    await appendFile(this.#path, lineOf(name, page), { mode: 0o600 });
  }

  /** Rewrites the file with one line per page. @throws the system's error */
  async tidy(): Promise<void> {
    const yielder = new EventLoopYielder();
    const lines: string[] = [];
    for (const [name, page] of this.#pages) {
      lines.push(lineOf(name, page));
      if (yielder.isDue) await yielder.yieldNow();
    }
    const beside = `${this.#path}.new`;
    await writeFile(beside, lines, { mode: 0o600 });
    await rename(beside, this.#path);
  }

  #take(line: string): void {
    try {
      const [name, page] = lineSchema.parse(JSON.parse(line));
      if (page) this.#pages.set(name, page);
      else this.#pages.delete(name);
    } catch {
      // Treated as missing.
    }
  }
}

function lineOf(name: string, page: CrawledPage | undefined): string {
  return `${JSON.stringify([name, page ?? null])}\n`;
}
