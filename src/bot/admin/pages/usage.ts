import { DAY_MS } from '../../../shared/clock.ts';
import { html, type SafeHtml } from '../../../shared/text/html.ts';
import { localize, type Catalogue, type Language } from '../../../shared/text/texts.ts';
import { USAGE_GROUPS, type UsageGroup, type UsageSum } from '../usage-sums.ts';
import { table } from './layout.ts';
import { columns, shareBar } from './plot.ts';
import { numberText } from './times.ts';

const TEXTS: Catalogue<
  | ('lead' | 'none' | 'by' | 'since' | 'show' | 'questions' | 'tokens' | 'share' | 'csv' | 'form')
  | ('perDayQuestions' | 'perDayTokens' | 'unknown' | 'total')
> = {
  lead: {
    en: 'Questions and tokens of all people, of the last 40 days at most. People appear under pseudonyms.',
    zh: '全体用户的提问数和 token 数，最多 40 天。用户以化名显示。',
  },
  none: { en: 'No usage is stored for this time.', zh: '这段时间没有已保存的用量。' },
  by: { en: 'By', zh: '分组' },
  since: { en: 'Since', zh: '起始日期' },
  show: { en: 'Show', zh: '查看' },
  questions: { en: 'Questions', zh: '提问数' },
  tokens: { en: 'Tokens', zh: 'token 数' },
  share: { en: 'Share of tokens', zh: 'token 占比' },
  csv: { en: 'Download CSV', zh: '下载 CSV' },
  form: { en: 'The date has the form 2026-11-01.', zh: '日期的格式为 2026-11-01。' },
  perDayQuestions: { en: 'Questions per day', zh: '每天的提问数' },
  perDayTokens: { en: 'Tokens per day', zh: '每天的 token 数' },
  unknown: { en: 'unknown', zh: '未知' },
  total: { en: 'Total', zh: '合计' },
};

const GROUPS: Catalogue<UsageGroup> = {
  day: { en: 'Day', zh: '日期' },
  person: { en: 'Person', zh: '用户' },
  department: { en: 'Department', zh: '部门' },
  model: { en: 'Model', zh: '模型' },
};

interface UsageView {
  language: Language;
  group: UsageGroup;
  /** As typed; empty for all stored days. */
  since: string;
  isSinceValid: boolean;
  sums: readonly UsageSum[];
}

export function usageBody(view: UsageView): SafeHtml {
  const { language, group, since, isSinceValid, sums } = view;
  const text = (key: keyof typeof TEXTS) => localize(TEXTS[key], language);
  const options = USAGE_GROUPS.map(
    (one) =>
      html`<option value="${one}" ${one === group && html` selected`}>${localize(GROUPS[one], language)}</option>`,
  );
  const form = html`<form method="get" action="/admin/usage" class="ask">
    <label for="by">${text('by')}</label>
    <select id="by" name="by">
      ${options}
    </select>
    <label for="since">${text('since')}</label>
    <input id="since" name="since" type="date" value="${isSinceValid ? since : ''}" />
    <button class="primary" type="submit">${text('show')}</button>
  </form>`;
  const complaint = isSinceValid ? undefined : html`<p class="notice" role="alert">${text('form')}</p>`;
  const lead = html`<p class="lead">${text('lead')}</p>`;
  if (sums.length === 0)
    return html`${lead} ${form} ${complaint}
      <p class="empty">${text('none')}</p>`;
  const address = `/admin/usage.csv?${new URLSearchParams({ by: group, since: isSinceValid ? since : '' }).toString()}`;
  return html`${lead} ${form} ${complaint} ${group === 'day' && dayPlots(sums, language)} ${sumTable(view)}
    <p><a class="button" href="${address}" download>${text('csv')}</a></p>`;
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
    return byName.get(name) ?? { name, questions: 0, tokens: 0 };
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
  const row = ({ name, questions, tokens }: UsageSum) =>
    html`<tr>
      <th scope="row">${nameOf(name)}</th>
      <td class="number">${numberText(questions, language)}</td>
      <td class="number">${numberText(tokens, language)}</td>
      <td class="shares">${shareBar(tokens, greatest)}</td>
    </tr>`;
  const sumOf = (what: 'questions' | 'tokens') => sums.reduce((sum, one) => sum + one[what], 0);
  const total = html`<tr class="total">
    <th scope="row">${text('total')}</th>
    <td class="number">${numberText(sumOf('questions'), language)}</td>
    <td class="number">${numberText(sumOf('tokens'), language)}</td>
    <td></td>
  </tr>`;
  const name = localize(GROUPS[group], language);
  return table(name, [name, text('questions'), text('tokens'), text('share')], [...shown.map(row), total]);
}
