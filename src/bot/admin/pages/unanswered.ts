import { html, type SafeHtml } from '../../../shared/text/html.ts';
import { localize, type Catalogue, type Language } from '../../../shared/text/texts.ts';
import { NO_TEXT, UNANSWERED_REASONS, type TopicSum, type Unanswered, type UnansweredWhy } from '../unanswered.ts';
import { emptyState, intro, table } from './layout.ts';
import { shareBar } from './plot.ts';
import { numberText, timeAt } from './times.ts';

/** Rows of each table; the CSV has all. */
const MAX_ROWS = 100;

const TEXTS = {
  lead: {
    en: 'Questions of the last 40 days without a helpful answer: the answer cites no document although the documents were searched, the question was refused, or the answer was rated as bad. Counted by words of the question.',
    zh: '最近 40 天没有得到解答的问题：查阅了文档但回答没有引用任何文档、问题被拒绝，或回答得到差评。按问题中的词语计数。',
  },
  none: { en: 'No unanswered questions are stored.', zh: '没有已保存的未解答问题。' },
  topics: { en: 'Topics', zh: '主题' },
  word: { en: 'Word', zh: '词语' },
  questions: { en: 'Questions', zh: '问题数' },
  share: { en: 'Share', zh: '占比' },
  unknown: { en: 'text no longer stored', zh: '原文已不再保存' },
  newest: { en: 'Newest questions', zh: '最新的问题' },
  time: { en: 'Time', zh: '时间' },
  id: { en: 'Reference', zh: '编号' },
  why: { en: 'Reason', zh: '原因' },
  text: { en: 'Question', zh: '问题' },
  csv: { en: 'Download CSV', zh: '下载 CSV' },
} as const satisfies Catalogue<string>;

const REASONS: Catalogue<UnansweredWhy> = {
  'no-source': { en: 'No source', zh: '没有来源' },
  refused: { en: 'Refused', zh: '被拒绝' },
  'thumbs-down': { en: 'Rated as bad', zh: '差评' },
};

interface UnansweredView {
  language: Language;
  timeZone: string;
  sums: readonly TopicSum[];
  /** The newest first. */
  questions: readonly Unanswered[];
  /** UNANSWERED_TEXT. */
  showsText: boolean;
}

export function unansweredBody({ language, timeZone, sums, questions, showsText }: UnansweredView): SafeHtml {
  const text = (key: keyof typeof TEXTS) => localize(TEXTS[key], language);
  const lead = intro(text('lead'));
  if (questions.length === 0) return html`${lead} ${emptyState(text('none'))}`;
  const greatest = Math.max(...sums.map((sum) => sum.questions));
  const topic = ({ word, questions: count, reasons }: TopicSum) =>
    html`<tr>
      <th scope="row">${word === NO_TEXT ? text('unknown') : word}</th>
      <td class="number">${numberText(count, language)}</td>
      ${UNANSWERED_REASONS.map((reason) => html`<td class="number">${numberText(reasons[reason], language)}</td>`)}
      <td class="shares">${shareBar(count, greatest)}</td>
    </tr>`;
  const question = ({ atMs, reference, reasons, text: said }: Unanswered) =>
    html`<tr>
      <td class="time">${timeAt(atMs, timeZone)}</td>
      <td>
        <a href="/admin/trace?reference=${reference}"><code>${reference}</code></a>
      </td>
      <td>${reasons.map((reason) => localize(REASONS[reason], language)).join(language === 'zh' ? '、' : ', ')}</td>
      ${showsText && html`<td>${said}</td>`}
    </tr>`;
  const reasonNames = UNANSWERED_REASONS.map((reason) => localize(REASONS[reason], language));
  const heads = [text('word'), text('questions'), ...reasonNames, text('share')];
  return html`${lead} ${table(text('topics'), heads, sums.slice(0, MAX_ROWS).map(topic))}
    <p><a class="button small" href="/admin/unanswered.csv" download>${text('csv')}</a></p>
    <h2>${text('newest')}</h2>
    ${table(
      text('newest'),
      [text('time'), text('id'), text('why'), ...(showsText ? [text('text')] : [])],
      questions.slice(0, MAX_ROWS).map(question),
    )}`;
}
