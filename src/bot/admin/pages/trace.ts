import { html, type SafeHtml } from '../../../shared/text/html.ts';
import { localize, type Catalogue, type Language } from '../../../shared/text/texts.ts';
import type { Trace, TracedStep } from '../../queue/read-trace.ts';
import { complaint, intro, table, textField } from './layout.ts';
import { timeAt } from './times.ts';

/** A reference has this form. */
export const REFERENCE = /^[0-9a-f]{8,40}$/i;

const TEXTS = {
  lead: {
    en: 'What happened to a question, without its text. Failure messages name the reference, and /ref shows it.',
    zh: '查看一个问题的处理过程，不含正文。失败提示中有参考编号，也可发送“编号”查看。',
  },
  reference: { en: 'Reference', zh: '参考编号' },
  find: { en: 'Show trace', zh: '查看' },
  form: {
    en: 'A reference has 8 to 40 digits and letters from a to f.',
    zh: '参考编号为 8 到 40 位的数字和字母 a 至 f。',
  },
  none: {
    en: 'No question has this reference. Traces are kept for a day.',
    zh: '没有此编号对应的问题。记录保存一天。',
  },
  question: { en: 'Question', zh: '问题' },
  conversation: { en: 'Conversation', zh: '对话' },
  person: { en: 'Person (pseudonym)', zh: '用户（化名）' },
  state: { en: 'State', zh: '状态' },
  merged: { en: 'Answered with', zh: '合并回答' },
  model: { en: 'Model', zh: '模型' },
  rule: { en: 'Policy rule', zh: '策略规则' },
  delivery: { en: 'Delivered as', zh: '送达方式' },
  steps: { en: 'Steps', zh: '步骤' },
  time: { en: 'Time', zh: '时间' },
  step: { en: 'Step', zh: '步骤' },
  values: { en: 'Values', zh: '数据' },
} as const satisfies Catalogue<string>;

/** Steps in Chinese; the stored names are English. */
const STEPS_ZH: Readonly<Record<string, string>> = {
  accepted: '已接收',
  refused: '已拒绝',
  woken: '已唤醒',
  claimed: '已领取',
  'stopped by its sender': '被发送者停止',
  'deleted by its sender': '被发送者删除',
  'live reply ended before the answer': '实时回复在回答前结束',
  'held for a sign-in in a group': '在群聊中等待登录',
  'Redis failed over': 'Redis 发生故障切换',
  'model asked': '请求模型',
  'first token': '首个 token',
  'model call ended': '模型调用结束',
  tokens: 'token 用量',
  snapshots: '快照',
  posts: '发送',
  edits: '编辑',
  moderated: '内容审核',
  'answer of an earlier worker': '采用先前进程的回答',
  error: '错误',
  ended: '已结束',
};

/** States, deliveries, names of values and values in Chinese. Names of models and rules, and codes of errors stay. */
const WORDS_ZH: Readonly<Record<string, string>> = {
  // States.
  accepted: '等待回答',
  held: '等待登录',
  final: '已完成',
  dead: '已放弃',
  limited: '已限流',
  deleted: '已删除',
  // Deliveries.
  live: '实时回复',
  follows: '等待补发',
  sent: '已补发',
  kept: '随下一条回复发送',
  unavailable: '无法送达',
  refused: '被拒绝',
  uncertain: '不确定',
  removed: '已移除',
  // Names of values.
  epoch: '领取序号',
  worker: '进程',
  crashes: '崩溃次数',
  model: '模型',
  outcome: '结果',
  firstEventMs: '首次响应毫秒数',
  durationMs: '总毫秒数',
  prompt: '提问',
  answer: '回答',
  count: '次数',
  firstMs: '首次毫秒数',
  kind: '对象',
  verdict: '结论',
  by: '原因',
  from: '来源',
  code: '错误码',
  // Values.
  answered: '已回答',
  interrupted: '中断',
  stopped: '已停止',
  command: '指令',
  'sign-in': '需要登录',
  failed: '失败',
  expired: '已过期',
  busy: '繁忙',
  paused: '已暂停',
  complete: '完整',
  truncated: '不完整',
  blocked: '已拦截',
  unchecked: '未能审核',
  stored: '已保存',
  posted: '已发送',
  'rate limit': '频率限制',
  'full inbox': '等待的消息过多',
};

interface TraceView {
  language: Language;
  timeZone: string;
  /** As typed; empty if none was. */
  reference: string;
  traces: readonly Trace[];
}

export function traceBody({ language, timeZone, reference, traces }: TraceView): SafeHtml {
  const text = (key: keyof typeof TEXTS) => localize(TEXTS[key], language);
  const isInvalid = reference !== '' && !REFERENCE.test(reference);
  const wrong = isInvalid ? text('form') : reference !== '' && traces.length === 0 ? text('none') : undefined;
  const isWrong = wrong !== undefined;
  const field = { name: 'reference', label: text('reference'), value: reference, maxChars: 40, isWrong };
  return html`${intro(text('lead'))}
    <form method="get" action="/admin/trace" class="ask">
      ${textField(field)} <button class="primary" type="submit">${text('find')}</button>
    </form>
    ${complaint(wrong)} ${traces.map((trace) => oneTrace(trace, { language, timeZone }))}`;
}

function oneTrace(trace: Trace, { language, timeZone }: Pick<TraceView, 'language' | 'timeZone'>): SafeHtml {
  const text = (key: keyof typeof TEXTS) => localize(TEXTS[key], language);
  const word = (given: string) => (language === 'zh' && Object.hasOwn(WORDS_ZH, given) ? WORDS_ZH[given] : given);
  const facts: [string, string | undefined][] = [
    [text('question'), trace.id],
    [text('conversation'), trace.conversation],
    [text('person'), trace.person],
    [text('state'), word(trace.state)],
    [text('merged'), trace.mergedInto],
    [text('model'), trace.model],
    [text('rule'), trace.rule],
    [text('delivery'), trace.delivery && word(trace.delivery)],
  ];
  const shown = facts.filter(([, value]) => value !== undefined && value !== '');
  const row = ({ atMs, step, values }: TracedStep) =>
    html`<tr>
      <td class="time">${atMs === 0 ? '–' : timeAt(atMs, timeZone)}</td>
      <td>${language === 'zh' ? (STEPS_ZH[step] ?? step) : step}</td>
      <td>
        ${Object.entries(values).map(([name, value]) => html`<code>${word(name)}=${word(String(value))}</code> `)}
      </td>
    </tr>`;
  const heads = [text('time'), text('step'), text('values')];
  return html`<section>
    <h2>${text('question')} ${trace.id.slice(0, 8)}</h2>
    <dl class="facts">
      ${shown.map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd><code>${value}</code></dd>
          </div>`,
      )}
    </dl>
    ${table(text('steps'), heads, trace.steps.map(row))}
  </section>`;
}
