import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKnowledge, type KnowledgeLoader } from '../../../src/bot/knowledge/create-knowledge.ts';
import type { Found, Knowledge, Reader } from '../../../src/bot/knowledge/knowledge.ts';
import { IndexKeeper } from '../../../src/bot/knowledge/index/index-keeper.ts';
import type { IndexProcess } from '../../../src/bot/knowledge/index/index-process.ts';
import type { LocalIndex } from '../../../src/bot/knowledge/index/local-index.ts';
import type { KnowledgeReport } from '../../../src/bot/knowledge/knowledge-report.ts';
import type { SiteKeeperParts } from '../../../src/bot/knowledge/site/site-keeper.ts';
import type { NowMs } from '../../../src/shared/clock.ts';

export const STAFF: Reader = {
  person: { identityCode: 'JG', department: '3100' },
  place: { kind: 'private', id: 'u1' },
};
export const STUDENT: Reader = {
  person: { identityCode: 'XS', department: '4200' },
  place: { kind: 'private', id: 'u2' },
};
export const STRANGER: Reader = { person: undefined, place: { kind: 'private', id: 'u3' } };
export const STAFF_IN_GROUP: Reader = { ...STAFF, place: { kind: 'group', id: 'g1' } };

export type Told = { [Kind in keyof KnowledgeReport]: Parameters<KnowledgeReport[Kind]>[0][] };

interface FixtureOptions {
  /** Defaults to an index in this process. */
  openIndex?: typeof IndexKeeper | typeof IndexProcess;
  indexFolder?: string;
  root?: string;
  /** Defaults to the system clock. */
  nowMs?: NowMs;
  sites?: Partial<SiteKeeperParts>;
}

/** Knowledge over a temporary folder, with its reports. */
export class KnowledgeFixture {
  readonly root: string;
  readonly told: Told = {
    sourceFailed: [],
    documentsLeftOut: [],
    indexed: [],
    searched: [],
    siteRead: [],
    indexEnded: [],
  };
  readonly kept: KnowledgeLoader;
  knowledge: Knowledge | undefined;

  index: LocalIndex | undefined;

  constructor({ openIndex = IndexKeeper, indexFolder, root, nowMs = Date.now, sites }: FixtureOptions = {}) {
    this.root = root ?? mkdtempSync(join(tmpdir(), 'parley-knowledge-'));
    const report = Object.fromEntries(
      Object.entries(this.told).map(([kind, events]) => [kind, (event: never) => void events.push(event)]),
    );
    this.kept = createKnowledge({
      folder: indexFolder ?? this.path('index'),
      report: report as unknown as KnowledgeReport,
      nowMs,
      sites: { lookEveryMs: 50, ...sites },
      openIndex: (options) => (this.index = new openIndex({ ...options, lookEveryMs: 50 })),
    });
  }

  path(...parts: string[]): string {
    return join(this.root, ...parts);
  }

  write(path: string, text: string | Buffer): void {
    mkdirSync(dirname(this.path(path)), { recursive: true });
    writeFileSync(this.path(path), text);
  }

  use(...sources: object[]): Knowledge {
    return this.useFile({ sources });
  }

  useFile(file: object): Knowledge {
    const { knowledge, takeOver } = this.kept.read(JSON.stringify(file), this.path('knowledge.json'));
    takeOver();
    this.knowledge = knowledge;
    return knowledge;
  }

  async find(query: string, reader: Reader = STAFF, only?: readonly string[]): Promise<Found[]> {
    return (await this.knowledge?.search(query, reader, new AbortController().signal, only)) ?? [];
  }

  async titles(query: string, reader: Reader = STAFF, only?: readonly string[]): Promise<string[]> {
    return (await this.find(query, reader, only)).map(({ title }) => title);
  }

  /** Polls until the condition holds; the timeout of the test ends it. */
  async until(holds: () => Promise<boolean> | boolean): Promise<void> {
    while (!(await holds())) await sleep(20);
  }

  async end(): Promise<void> {
    await this.kept.close();
    rmSync(this.root, { recursive: true, force: true });
  }
}
