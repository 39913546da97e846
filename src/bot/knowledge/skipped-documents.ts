import type { SkippedFiles } from './knowledge-report.ts';

/** Counts the skipped documents of a source by reason, with the first of each. */
export class SkippedDocuments {
  readonly #counts: Map<string, { count: number; first: string }>;

  constructor(counted: ReadonlyMap<string, { count: number; first: string }> = new Map()) {
    this.#counts = new Map(counted);
  }

  add(reason: string, name: string): void {
    const known = this.#counts.get(reason);
    this.#counts.set(reason, { count: (known?.count ?? 0) + 1, first: known?.first ?? name });
  }

  reasons(): SkippedFiles[] {
    return [...this.#counts].map(([reason, counted]) => ({ reason, ...counted }));
  }
}
