import { CSV_MARK, csvRow } from '../../shared/text/csv.ts';
import type { UsageRow } from '../turn/conversation/usage-store.ts';

export const USAGE_GROUPS = ['day', 'person', 'department', 'model'] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** Usage of a day, a person, a department or a model. */
export interface UsageSum {
  /** `-` if unknown. */
  name: string;
  questions: number;
  tokens: number;
}

/** Days in order; otherwise the greatest use first. */
export function sumUsage(group: UsageGroup, rows: readonly UsageRow[]): UsageSum[] {
  const sums = new Map<string, UsageSum>();
  for (const row of rows) {
    const name = row[group] === '' ? '-' : row[group];
    const { questions = 0, tokens = 0 } = sums.get(name) ?? {};
    sums.set(name, { name, questions: questions + row.questions, tokens: tokens + row.tokens });
  }
  const all = [...sums.values()];
  if (group === 'day') return all.sort((one, other) => (one.name < other.name ? -1 : 1));
  return all.sort((one, other) => other.tokens - one.tokens);
}

export function usageCsv(group: UsageGroup, sums: readonly UsageSum[]): string {
  const lines = sums.map(({ name, questions, tokens }) => csvRow([name, questions, tokens]));
  return [CSV_MARK + csvRow([group, 'questions', 'tokens']), ...lines].join('');
}

/** Whether the text is a date such as 2026-11-01. */
export function isDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));
}
