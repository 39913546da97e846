import { sumUsage, USAGE_GROUPS, usageCsv } from '../../bot/admin/usage-sums.ts';
import { readAllUsage } from '../../bot/turn/conversation/usage-store.ts';
import type { RunAdmin } from './admin-context.ts';

/** `admin usage`: questions and tokens by day, person, department or model. */
export const showUsage: RunAdmin = async ({ redis }, { options }) => {
  const { by, since, csv } = options;
  const group = USAGE_GROUPS.find((one) => one === by) ?? 'day';
  const rows = sumUsage(group, await readAllUsage(redis, typeof since === 'string' ? since : ''));
  const data = rows.map(({ name, questions, tokens }) => ({ [group]: name, questions, tokens }));
  if (csv === true) return { data, text: usageCsv(group, rows), isCsv: true };
  const lines = rows.map(({ name, questions, tokens }) => `${name}  questions: ${questions}, tokens: ${tokens}\n`);
  return { data, text: lines.length === 0 ? 'No usage is stored\n' : lines.join('') };
};
