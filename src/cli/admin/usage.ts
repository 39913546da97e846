import {
  amountOf,
  currenciesOf,
  isReversed,
  sumUsage,
  USAGE_GROUPS,
  usageCsv,
  type UsageGroup,
  type UsageSum,
} from '../../bot/admin/usage-sums.ts';
import { readAllUsage } from '../../bot/turn/conversation/usage-store.ts';
import { wrongUse, type RunAdmin } from './admin-context.ts';

/** `admin usage`: questions, tokens and costs by day, person, department or model. */
export const showUsage: RunAdmin = async ({ redis }, { options }) => {
  const { by, since, until, csv } = options;
  const days = { since: typeof since === 'string' ? since : '', until: typeof until === 'string' ? until : '' };
  if (isReversed(days)) return wrongUse('--until must not be before --since');
  const group = USAGE_GROUPS.find((one) => one === by) ?? 'day';
  const rows = sumUsage(group, await readAllUsage(redis, days));
  const data = rows.map((row) => dataOf(group, row));
  if (csv === true) return { data, text: usageCsv(group, rows), isCsv: true };
  return { data, text: rows.length === 0 ? 'No usage is stored\n' : rows.map(lineOf).join('') };
};

function dataOf(group: UsageGroup, row: UsageSum): Record<string, unknown> {
  const { name, questions, tokens, costs } = row;
  const amounts = currenciesOf([row]).map((currency) => [currency, amountOf(costs, currency)]);
  return { [group]: name, questions, tokens, costs: amounts.length === 0 ? undefined : Object.fromEntries(amounts) };
}

function lineOf(row: UsageSum): string {
  const { name, questions, tokens, costs } = row;
  const amounts = currenciesOf([row]).map((currency) => `${amountOf(costs, currency)} ${currency}`);
  if (amounts.length === 0) return `${name}  questions: ${questions}, tokens: ${tokens}\n`;
  return `${name}  questions: ${questions}, tokens: ${tokens}, costs: ${amounts.join(' + ')}\n`;
}
