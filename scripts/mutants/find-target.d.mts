import type { MutantRow } from './rows.mjs';

export interface SourceText {
  file: string;
  text: string;
}
export function readSources(folder?: string): SourceText[];
export function mutate(sources: readonly SourceText[], row: Omit<MutantRow, 'test'>): SourceText;
export function guardsOf(sources: readonly SourceText[]): string[];
