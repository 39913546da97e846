import { DAY_MS } from '../../../shared/clock.ts';
import { html, type SafeHtml } from '../../../shared/text/html.ts';
import { localize, type Catalogue, type Language } from '../../../shared/text/texts.ts';
import type { UsageDays } from '../../turn/conversation/usage-store.ts';
import { addUse, amountOf, currenciesOf, NO_USE, USAGE_GROUPS, type UsageGroup, type UsageSum } from '../usage-sums.ts';
import { complaint, emptyState, intro, selectField, table } from './layout.ts';
import { columns, shareBar } from './plot.ts';
import { amountText, numberText } from './times.ts';

const TEXTS = {
  lead: {
    en: 'Questions, tokens and costs of all people. They are stored for 40 days: a month is complete until the 9th of the next one. Both dates are included. People appear under pseudonyms. Models with a price have costs.',
    zh: '全体用户的提问数、token 数和费用，保存 40 天，整月的数据可在次月 9 日前完整查看。起止日期均计入。用户以化名显示。设有价格的模型才有费用。',
  },
  none: { en: 'No usage is stored for this time.', zh: '这段时间没有已保存的用量。' },
  by: { en: 'By', zh: '分组' },
  since: { en: 'Since', zh: '起始日期' },
  until: { en: 'Until', zh: '结束日期' },
  show: { en: 'Show', zh: '查看' },
  questions: { en: 'Questions', zh: '提问数' },
  tokens: { en: 'Tokens', zh: 'token 数' },
  share: { en: 'Share of tokens', zh: 'token 占比' },
  csv: { en: 'Download CSV', zh: '下载 CSV' },
  form: { en: 'The date has the form 2026-11-01.', zh: '日期的格式为 2026-11-01。' },
  order: { en: 'The end date is before the start date.', zh: '结束日期早于起始日期。' },
  perDayQuestions: { en: 'Questions per day', zh: '每天的提问数' },
  perDayTokens: { en: 'Tokens per day', zh: '每天的 token 数' },
  unknown: { en: 'unknown', zh: '未知' },
  total: { en: 'Total', zh: '合计' },
  cost: { en: 'Cost in {currency}', zh: '费用（{currency}）' },
} as const satisfies Catalogue<string>;

const GROUPS: Catalogue<UsageGroup> = {
  day: { en: 'Day', zh: '日期' },
  person: { en: 'Person', zh: '用户' },
  department: { en: 'Department', zh: '部门' },
  model: { en: 'Model', zh: '模型' },
};

export interface UsageView {
  language: Language;
  group: UsageGroup;
  days: UsageDays;
  /** Whether the dates that were typed have another form, or are in the wrong order. */
  wrong: 'form' | 'order' | undefined;
  sums: readonly UsageSum[];
}

export function usageBody(view: UsageView): SafeHtml {
  const { language, group, days, wrong, sums } = view;
  const text = (key: keyof typeof TEXTS) => localize(TEXTS[key], language);
  const options = USAGE_GROUPS.map((one) => [one, localize(GROUPS[one], language)] as const);
  const dayField = (name: keyof UsageDays) =>
    html`<span class="field">
      <label for="${name}">${text(name)}</label>
      <input id="${name}" name="${name}" type="date" value="${days[name]}" />
    </span>`;
  const form = html`<form method="get" action="/admin/usage" class="ask">
    ${selectField({ name: 'by', label: text('by'), value: group, options })} ${dayField('since')} ${dayField('until')}
    <button class="primary" type="submit">${text('show')}</button>
  </form>`;
  const top = html`${intro(text('lead'))} ${form} ${complaint(wrong && text(wrong))}`;
  if (sums.length === 0) return html`${top} ${emptyState(text('none'))}`;
  const address = `/admin/usage.csv?${new URLSearchParams({ by: group, ...days }).toString()}`;
  return html`${top} ${group === 'day' && dayPlots(sums, language)} ${sumTable(view)}
    <p><a class="button small" href="${address}" download>${text('csv')}</a></p>`;
}

function dayPlots(sums: readonly UsageSum[], language: Language): SafeHtml {
  const days = everyDay(sums);
  const plot = (title: keyof typeof TEXTS, what: 'questions' | 'tokens') =>
    columns(
      localize(TEXTS[title], language),
      days.map((day) => ({ name: day.name, value: day[what], label: numberText(day[what], language) })),
    );
  return html`<div class="plots">${plot('perDayQuestions', 'questions')} ${plot('perDayTokens', 'tokens')}</div>`;
}

/** With the days between that have no usage. */
export function everyDay(sums: readonly UsageSum[]): UsageSum[] {
  const byName = new Map(sums.map((sum) => [sum.name, sum]));
  const [first, last] = [sums[0], sums.at(-1)];
  if (!first || !last) return [];
  const count = Math.round((Date.parse(last.name) - Date.parse(first.name)) / DAY_MS) + 1;
  return Array.from({ length: Math.max(count, 1) }, (_, index) => {
    const name = new Date(Date.parse(first.name) + index * DAY_MS).toISOString().slice(0, 'YYYY-MM-DD'.length);
    return byName.get(name) ?? { name, ...NO_USE };
  });
}

function sumTable({ language, group, sums }: UsageView): SafeHtml {
  const text = (key: keyof typeof TEXTS) => localize(TEXTS[key], language);
  const greatest = Math.max(...sums.map(({ tokens }) => tokens));
  const shown = group === 'day' ? sums.toReversed() : sums;
  const nameOf = (name: string) => {
    if (name === '-') return text('unknown');
    return group === 'person' ? html`<code>${name.slice(0, 12)}</code>` : name;
  };
  const currencies = currenciesOf(sums);
  const figures = ({ questions, tokens, costs }: Omit<UsageSum, 'name'>) =>
    [
      numberText(questions, language),
      numberText(tokens, language),
      ...currencies.map((currency) => (currency in costs ? amountText(amountOf(costs, currency), language) : '–')),
    ].map((figure) => html`<td class="number">${figure}</td>`);
  const row = (sum: UsageSum) =>
    html`<tr>
      <th scope="row">${nameOf(sum.name)}</th>
      ${figures(sum)}
      <td class="shares">${shareBar(sum.tokens, greatest)}</td>
    </tr>`;
  const total = html`<tr class="total">
    <th scope="row">${text('total')}</th>
    ${figures(sums.reduce<Omit<UsageSum, 'name'>>(addUse, NO_USE))}
    <td></td>
  </tr>`;
  const name = localize(GROUPS[group], language);
  const costHeads = currencies.map((currency) => localize(TEXTS.cost, language, { currency }));
  const heads = [name, text('questions'), text('tokens'), ...costHeads, text('share')];
  return table(name, heads, [...shown.map(row), total]);
}
