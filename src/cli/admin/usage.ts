import { CSV_MARK, csvRow } from '../../shared/text/csv.ts';
import { readAllUsage, type UsageRow } from '../../bot/turn/conversation/usage-store.ts';
import type { RunAdmin } from './admin-context.ts';

export const USAGE_GROUPS = ['day', 'person', 'department', 'model'] as const;
type Group = (typeof USAGE_GROUPS)[number];

/** `admin usage`: questions and tokens by day, person, department or model. */
export const showUsage: RunAdmin = async ({ redis }, { options }) => {
  const { by, since, csv } = options;
  const group = USAGE_GROUPS.find((one) => one === by) ?? 'day';
  const rows = sumsBy(group, await readAllUsage(redis, typeof since === 'string' ? since : ''));
  const data = rows.map(({ name, questions, tokens }) => ({ [group]: name, questions, tokens }));
  if (csv === true) {
    const lines = rows.map(({ name, questions, tokens }) => csvRow([name, questions, tokens]));
    return { data, text: [CSV_MARK + csvRow([group, 'questions', 'tokens']), ...lines].join(''), isCsv: true };
  }
  const lines = rows.map(({ name, questions, tokens }) => `${name}  questions: ${questions}, tokens: ${tokens}\n`);
  return { data, text: lines.length === 0 ? 'No usage is stored\n' : lines.join('') };
};

interface Sum {
  name: string;
  questions: number;
  tokens: number;
}

/** Days in order; otherwise the greatest use first. */
function sumsBy(group: Group, rows: readonly UsageRow[]): Sum[] {
  const sums = new Map<string, Sum>();
  for (const row of rows) {
    const name = row[group] === '' ? '-' : row[group];
    const { questions = 0, tokens = 0 } = sums.get(name) ?? {};
    sums.set(name, { name, questions: questions + row.questions, tokens: tokens + row.tokens });
  }
  const all = [...sums.values()];
  if (group === 'day') return all.sort((one, other) => (one.name < other.name ? -1 : 1));
  return all.sort((one, other) => other.tokens - one.tokens);
}
