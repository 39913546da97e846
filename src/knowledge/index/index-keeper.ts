import { setTimeout as sleep } from 'node:timers/promises';
import { MIB_BYTES, SECOND_MS } from '../../base/clock.ts';
import { isKnownKind, readTextDocument } from '../folder/read-document.ts';
import { readWholeFile } from '../folder/read-file.ts';
import { walkFolder, type FolderFile, type FolderLimits } from '../folder/walk-folder.ts';
import type { KnowledgeReport } from '../knowledge-report.ts';
import { mayRead } from '../readers.ts';
import type { FolderDefinition } from '../source-kinds.ts';
import { Breath } from './breath.ts';
import type { LocalHit, LocalIndex, LocalQuery } from './local-index.ts';
import { PassageIndex } from './passage-index.ts';
import type { DocumentEntry } from './segment.ts';
import { SegmentBuilder, type NewDocument } from './segment-builder.ts';

export type IndexReport = Pick<KnowledgeReport, 'documentsLeftOut' | 'indexed'>;

const LIMITS: FolderLimits = { files: 50_000, depth: 20, fileBytes: 20 * MIB_BYTES };
/** A segment is closed from here on, so that what was read is found while the rest is still being read. */
const SEGMENT_BYTES = 4 * MIB_BYTES;
const LOOK_EVERY_MS = 3 * SECOND_MS;

/** Keeps an index of folders, and looks every few seconds what changed there. */
export class IndexKeeper implements LocalIndex {
  readonly #report: IndexReport;
  readonly #lookEveryMs: number;
  readonly #index = new PassageIndex();
  readonly #ending = new AbortController();
  #sources: ReadonlyMap<string, FolderDefinition> = new Map();
  /** What was last told of what each source leaves out. */
  readonly #told = new Map<string, string>();
  #looking: Promise<void> | undefined;
  /** Ends the rest between two looks. */
  #waking = new AbortController();

  constructor(report: IndexReport, lookEveryMs = LOOK_EVERY_MS) {
    this.#report = report;
    this.#lookEveryMs = lookEveryMs;
  }

  use(sources: readonly FolderDefinition[]): void {
    this.#sources = new Map(sources.map((source) => [source.name, source]));
    this.#waking.abort();
    this.#looking ??= this.#keepLooking();
  }

  async search({ query, reader, sources, most }: LocalQuery): Promise<LocalHit[]> {
    const asked = new Set(sources.filter((name) => this.#sources.has(name)));
    const isReadable = (entry: DocumentEntry) => asked.has(entry.source) && mayRead(this.#readersOf(entry), reader);
    const hits = this.#index.search({ query, isReadable, most });
    return hits.map(({ entry, place, text, score }) => {
      const { source, path, title, url, date } = entry;
      return {
        source,
        path,
        title,
        readers: this.#readersOf(entry),
        place,
        text,
        url: url ?? this.#addressOf(entry),
        date,
        score,
      };
    });
  }

  async close(): Promise<void> {
    this.#ending.abort();
    await this.#looking;
  }

  #readersOf({ source, readers }: DocumentEntry) {
    return readers ?? this.#sources.get(source)?.readers ?? 'nobody';
  }

  #addressOf({ source, path }: DocumentEntry): string | undefined {
    const url = this.#sources.get(source)?.url;
    return url === undefined ? undefined : url + path.split('/').map(encodeURIComponent).join('/');
  }

  async #keepLooking(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      this.#waking = new AbortController();
      await this.#look();
      const woken = AbortSignal.any([signal, this.#waking.signal]);
      await sleep(this.#lookEveryMs, undefined, { signal: woken, ref: false }).catch(() => undefined);
    }
  }

  /** Brings the index to what stands in the folders now. What fails is left as it is until the next look. */
  async #look(): Promise<void> {
    const intake = new Intake(this.#index);
    for (const { source } of this.#index.entries()) if (!this.#sources.has(source)) this.#index.removeAll(source);
    for (const source of this.#sources.values()) await this.#lookAt(source, intake);
    if (await intake.finish()) this.#report.indexed(this.#index.size());
  }

  async #lookAt(source: FolderDefinition, intake: Intake): Promise<void> {
    const { name, folder } = source;
    const walked = await walkFolder(folder, LIMITS).catch(() => undefined);
    const files = new Map(walked?.files.map((file) => [file.path, file]));
    for (const entry of this.#index.entries())
      if (entry.source === name && !files.has(entry.path)) this.#index.remove(name, entry.path);
    const leftOut = new LeftOut(walked?.leftOut);
    if (!walked) leftOut.add('no_folder', folder);
    for (const file of files.values()) {
      if (this.#ending.signal.aborted) return;
      if (!isKnownKind(file.path)) leftOut.add('unknown_kind', file.path);
      else if (this.#index.find(name, file.path)?.stamp !== file.stamp) {
        const reason = await this.#take(source, file, intake);
        if (reason) leftOut.add(reason, file.path);
      }
    }
    this.#tellLeftOut(name, leftOut);
  }

  /** @returns why it is no document */
  async #take(
    { name }: FolderDefinition,
    { path, realPath, stamp }: FolderFile,
    intake: Intake,
  ): Promise<string | undefined> {
    const bytes = readWholeFile(realPath, LIMITS.fileBytes);
    if (!bytes) return 'unreadable';
    await intake.add({ source: name, path, stamp, ...readTextDocument(path, bytes) });
    return undefined;
  }

  /** Once, until something else is left out. */
  #tellLeftOut(source: string, leftOut: LeftOut): void {
    const told = JSON.stringify([...leftOut.counts]);
    if ((this.#told.get(source) ?? '[]') === told) return;
    this.#told.set(source, told);
    const reasons = [...leftOut.counts].map(([reason, counted]) => ({ reason, ...counted }));
    this.#report.documentsLeftOut({ source, reasons });
  }
}

/** Documents on their way into the index, a segment at a time. */
class Intake {
  readonly #index: PassageIndex;
  readonly #breath = new Breath();
  #builder = new SegmentBuilder();
  #hasTaken = false;

  constructor(index: PassageIndex) {
    this.#index = index;
  }

  async add(document: NewDocument): Promise<void> {
    await this.#builder.add(document, this.#breath);
    if (this.#builder.textBytes >= SEGMENT_BYTES) await this.#close();
  }

  /** @returns whether anything came in */
  async finish(): Promise<boolean> {
    if (this.#builder.documents > 0) await this.#close();
    return this.#hasTaken;
  }

  async #close(): Promise<void> {
    this.#index.takeBuilt(await this.#builder.build(this.#breath));
    this.#builder = new SegmentBuilder();
    this.#hasTaken = true;
  }
}

class LeftOut {
  readonly counts: Map<string, { count: number; first: string }>;

  constructor(walked: ReadonlyMap<string, { count: number; first: string }> = new Map()) {
    this.counts = new Map(walked);
  }

  add(reason: string, path: string): void {
    const known = this.counts.get(reason);
    this.counts.set(reason, { count: (known?.count ?? 0) + 1, first: known?.first ?? path });
  }
}
