import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKnowledge, type KeptKnowledge } from '../../src/knowledge/create-knowledge.ts';
import type { Found, Knowledge, Reader } from '../../src/knowledge/knowledge.ts';
import type { KnowledgeReport } from '../../src/knowledge/knowledge-report.ts';

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

/** Knowledge over a temporary folder, with what it reports. */
export class KnowledgeFixture {
  readonly root = mkdtempSync(join(tmpdir(), 'parley-knowledge-'));
  readonly told: Told = { sourceFailed: [], documentsLeftOut: [], indexed: [], searched: [] };
  readonly kept: KeptKnowledge;
  knowledge: Knowledge | undefined;

  constructor() {
    const report = Object.fromEntries(
      Object.entries(this.told).map(([kind, events]) => [kind, (event: never) => void events.push(event)]),
    );
    this.kept = createKnowledge({ lookEveryMs: 50, report: report as unknown as KnowledgeReport });
  }

  path(...parts: string[]): string {
    return join(this.root, ...parts);
  }

  write(path: string, text: string | Buffer): void {
    mkdirSync(dirname(this.path(path)), { recursive: true });
    writeFileSync(this.path(path), text);
  }

  use(...sources: object[]): Knowledge {
    const { knowledge, takeOver } = this.kept.read(JSON.stringify({ sources }), this.path('knowledge.json'));
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

  /** Waits until a search finds what is expected; the test's own limit ends a wait for nothing. */
  async until(holds: () => Promise<boolean> | boolean): Promise<void> {
    while (!(await holds())) await sleep(20);
  }

  async end(): Promise<void> {
    await this.kept.close();
    rmSync(this.root, { recursive: true, force: true });
  }
}
