import { CSV_MARK, csvRow } from '../../shared/text/csv.ts';
import { MICROS } from '../../shared/models/cost.ts';
import { addCosts, type Costs, type Usage, type UsageDays, type UsageRow } from '../turn/conversation/usage-store.ts';

export const USAGE_GROUPS = ['day', 'person', 'department', 'model'] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** Usage of a day, a person, a department or a model. */
export interface UsageSum extends Use {
  /** `-` if unknown. */
  name: string;
}

interface Use extends Usage {
  costs: Costs;
}

export const NO_USE: Use = { questions: 0, tokens: 0, costs: {} };

export function addUse(some: Use, more: Use): Use {
  return {
    questions: some.questions + more.questions,
    tokens: some.tokens + more.tokens,
    costs: addCosts(some.costs, more.costs),
  };
}

/** Days in order; otherwise the greatest use first. */
export function sumUsage(group: UsageGroup, rows: readonly UsageRow[]): UsageSum[] {
  const sums = new Map<string, UsageSum>();
  for (const row of rows) {
    const name = row[group] === '' ? '-' : row[group];
    sums.set(name, { name, ...addUse(sums.get(name) ?? NO_USE, row) });
  }
  const all = [...sums.values()];
  if (group === 'day') return all.sort((one, other) => (one.name < other.name ? -1 : 1));
  return all.sort((one, other) => other.tokens - one.tokens);
}

export function usageCsv(group: UsageGroup, sums: readonly UsageSum[]): string {
  const currencies = currenciesOf(sums);
  const heads = [group, 'questions', 'tokens', ...currencies.map((currency) => `cost ${currency}`)];
  const lines = sums.map(({ name, questions, tokens, costs }) => {
    return csvRow([name, questions, tokens, ...currencies.map((currency) => amountOf(costs, currency))]);
  });
  return [CSV_MARK + csvRow(heads), ...lines].join('');
}

export function amountOf(costs: Costs, currency: string): number {
  return (costs[currency] ?? 0) / MICROS;
}

/** The currencies that occur, in order of their names. Models without a price have no costs. */
export function currenciesOf(sums: readonly UsageSum[]): string[] {
  return [...new Set(sums.flatMap(({ costs }) => Object.keys(costs)))].toSorted();
}

export function isReversed({ since, until }: UsageDays): boolean {
  return until !== '' && until < since;
}

/** Whether the text is a date such as 2026-11-01. */
export function isDay(text: string): boolean {
  const atMs = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  // 30 February parses as a day in March.
  return !Number.isNaN(atMs) && new Date(atMs).toISOString().startsWith(text);
}
