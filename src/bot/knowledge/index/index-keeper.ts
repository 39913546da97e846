import { setTimeout as sleep } from 'node:timers/promises';
import { MIB_BYTES, SECOND_MS } from '../../../shared/clock.ts';
import { hashParts } from '../../../shared/crypto/ids.ts';
import { inBackground } from '../../../shared/in-background.ts';
import { FOLDER_LIMITS, walkFolder, type FolderFile } from '../folder/walk-folder.ts';
import type { KnowledgeReport } from '../knowledge-report.ts';
import { SkippedDocuments } from '../skipped-documents.ts';
import { mayRead, type Readers } from '../readers.ts';
import type { LocalHit, LocalIndex, LocalQuery, LocalSource } from './local-index.ts';
import { PassageIndex } from './passage-index.ts';
import { SegmentFiles } from './segment-files.ts';
import type { DocumentEntry } from './segment.ts';
import { readDocumentFile, unsupportedFileReason, type DocumentText } from '../folder/read-document.ts';
import { readPageFile, unsupportedPageReason } from '../site/read-kept-page.ts';

/** How files of a source kind are read. */
interface LocalKind {
  /** @returns why a file is not a document, judged by its name only; undefined if it may be one */
  whyNone(path: string): string | undefined;
  /**
   * Reads a document. For an unreadable document, returns no text and the reason in `refused`.
   * @throws the signal's reason
   */
  readFile(file: FolderFile, maxBytes: number, signal: AbortSignal): Promise<DocumentText>;
}

const LOCAL_KINDS: Readonly<Record<LocalSource['kind'], LocalKind>> = {
  folder: { whyNone: unsupportedFileReason, readFile: readDocumentFile },
  pages: { whyNone: unsupportedPageReason, readFile: readPageFile },
};

export type IndexReport = Pick<KnowledgeReport, 'documentsLeftOut' | 'indexed'>;

export interface IndexKeeperOptions {
  /** Where the index is stored between restarts. */
  folder: string;
  report: IndexReport;
  /** Poll interval. Defaults to 3 s. */
  lookEveryMs?: number;
}

/** Total for all sources. */
const MAX_TEXT_BYTES = 512 * MIB_BYTES;
const LOOK_EVERY_MS = 3 * SECOND_MS;

/** A source and whether its index has been compared with the folder's current content. */
interface KeptSource extends LocalSource {
  isCompared: boolean;
}

/** Maintains an index of folders and polls them for changes. */
export class IndexKeeper implements LocalIndex {
  readonly #report: IndexReport;
  readonly #lookEveryMs: number;
  readonly #index: PassageIndex;
  readonly #ending = new AbortController();
  /** By the source key in index entries. The same name with another folder is another source. */
  #sources: ReadonlyMap<string, KeptSource> = new Map();
  /** The last report of skipped files per source. */
  readonly #told = new Map<string, string>();
  #looking: Promise<void> | undefined;
  /** Interrupts the wait between two polls. */
  #waking = new AbortController();

  constructor({ folder, report, lookEveryMs = LOOK_EVERY_MS }: IndexKeeperOptions) {
    this.#report = report;
    this.#lookEveryMs = lookEveryMs;
    this.#index = new PassageIndex(new SegmentFiles(folder));
  }

  use(sources: readonly LocalSource[]): void {
    const kept = sources.map((source) => {
      const key = keyOf(source);
      return [key, { ...source, isCompared: this.#sources.get(key)?.isCompared ?? false }] as const;
    });
    this.#sources = new Map(kept);
    this.#waking.abort();
    this.#looking ??= this.#runScans();
    inBackground(() => this.#looking);
  }

  async search({ query, reader, sources, limit }: LocalQuery): Promise<LocalHit[]> {
    const asked = new Map(
      [...this.#sources].filter(([, { name, isCompared }]) => isCompared && sources.includes(name)),
    );
    const isReadable = (entry: DocumentEntry): boolean => {
      const source = asked.get(entry.source);
      return source !== undefined && mayRead(readersOf(entry, source), reader);
    };
    return this.#index.search({ query, isReadable, limit }).map(({ entry, place, text, score }) => {
      const source = asked.get(entry.source) as KeptSource;
      const { path, title, date } = entry;
      const [readers, url] = [readersOf(entry, source), entry.url ?? addressOf(entry, source)];
      return { source: source.name, path, title, readers, place, text, url, date, score };
    });
  }

  async close(): Promise<void> {
    this.#ending.abort();
    await this.#looking;
  }

  async #runScans(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      this.#waking = new AbortController();
      await this.#scan().catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
      const woken = AbortSignal.any([signal, this.#waking.signal]);
      await sleep(this.#lookEveryMs, undefined, { signal: woken, ref: false }).catch(() => undefined);
    }
  }

  /**
   * Updates the index to the current folder content. Deleted and changed documents are removed first, because their readers
   * may have changed.
   */
  async #scan(): Promise<void> {
    for (const key of this.#index.sources()) if (!this.#sources.has(key)) this.#index.removeSource(key);
    const seen: { key: string; source: KeptSource; files: readonly FolderFile[]; leftOut: SkippedDocuments }[] = [];
    for (const [key, source] of this.#sources) {
      const walked = await walkFolder(source.folder, FOLDER_LIMITS).catch(() => undefined);
      const files = walked?.files ?? [];
      const leftOut = new SkippedDocuments(walked?.leftOut);
      if (!walked) leftOut.add('no_folder', source.folder);
      const stamps = new Map(files.map(({ path, stamp }) => [path, stamp]));
      for (const path of this.#index.paths(key))
        if (this.#index.find(key, path)?.stamp !== stamps.get(path)) this.#index.remove(key, path);
      source.isCompared = true;
      seen.push({ key, source, files, leftOut });
    }
    let { textBytes } = this.#index.size();
    let hasNews = false;
    for (const { key, source, files, leftOut } of seen) {
      const kind = LOCAL_KINDS[source.kind];
      for (const file of files) {
        if (this.#ending.signal.aborted) return;
        const known = this.#index.find(key, file.path);
        const wasRead = known && known.refused !== 'not_read' ? known : undefined;
        const reason = kind.whyNone(file.path) ?? wasRead?.refused;
        if (reason !== undefined) leftOut.add(reason, known?.url ?? file.path);
        else if (!wasRead && textBytes >= MAX_TEXT_BYTES) leftOut.add('index_full', file.path);
        else if (!wasRead) {
          if (known) this.#index.remove(key, file.path);
          const read = await kind.readFile(file, FOLDER_LIMITS.fileBytes, this.#ending.signal);
          if (read.refused !== undefined) leftOut.add(read.refused, read.url ?? file.path);
          await this.#index.add({ ...read, source: key, path: file.path, stamp: file.stamp });
          textBytes += read.parts.reduce((sum, { text }) => sum + text.length, 0);
          hasNews = true;
        }
      }
      this.#reportSkipped(source.name, leftOut);
    }
    await this.#index.settle();
    if (hasNews) this.#report.indexed({ ...this.#index.size(), memoryBytes: process.memoryUsage.rss() });
  }

  /** Reports skipped files only if they changed since the last report. */
  #reportSkipped(source: string, leftOut: SkippedDocuments): void {
    const told = JSON.stringify(leftOut.reasons());
    if ((this.#told.get(source) ?? '[]') === told) return;
    this.#told.set(source, told);
    this.#report.documentsLeftOut({ source, reasons: leftOut.reasons() });
  }
}

function keyOf({ kind, name, folder }: LocalSource): string {
  return hashParts(kind, name, folder).slice(0, KEY_CHARS);
}

const KEY_CHARS = 16;

function readersOf({ readers }: DocumentEntry, source: LocalSource): Readers {
  return readers ?? source.readers;
}

function addressOf({ path }: DocumentEntry, { url }: LocalSource): string | undefined {
  return url === undefined ? undefined : url + path.split('/').map(encodeURIComponent).join('/');
}
