import { html, type SafeHtml } from '../../../shared/text/html.ts';
import { localize, type Catalogue, type Language } from '../../../shared/text/texts.ts';
import type { WaitingQuestions } from '../../queue/waiting-questions.ts';
import { table } from './layout.ts';
import { durationText, numberText } from './times.ts';

/** State of the deployment. An undefined value could not be read. */
export interface Overview {
  questions: WaitingQuestions | undefined;
  /** Dead letters of the last day. */
  deadLetters: number;
  jobs: Readonly<Record<'waiting' | 'active' | 'delayed' | 'failed', number>>;
  versions: { parley: string; node: string; redis: string };
}

const TEXTS = {
  now: { en: 'Now', zh: '当前' },
  waiting: { en: 'Waiting messages', zh: '等待中的消息' },
  oldest: { en: 'Longest wait', zh: '最长等待' },
  running: { en: 'Answers being written', zh: '正在生成的回答' },
  dead: { en: 'Dead letters in 24 h', zh: '24 小时内的死信' },
  wakes: { en: 'Wake queue', zh: '唤醒队列' },
  wakesNote: {
    en: 'Wakes tell workers which conversation to check. They carry no text, and lost ones are repeated.',
    zh: '唤醒任务告诉工作进程该检查哪个对话，不含正文；丢失后会自动重发。',
  },
  state: { en: 'State', zh: '状态' },
  count: { en: 'Wakes', zh: '数量' },
  versions: { en: 'Versions', zh: '版本' },
  unknown: { en: 'not readable', zh: '无法读取' },
} as const satisfies Catalogue<string>;

const JOB_STATES: Catalogue<keyof Overview['jobs']> = {
  waiting: { en: 'waiting', zh: '等待' },
  active: { en: 'active', zh: '处理中' },
  delayed: { en: 'delayed', zh: '延迟' },
  failed: { en: 'failed', zh: '失败' },
};

export function overviewBody({ questions, deadLetters, jobs, versions }: Overview, language: Language): SafeHtml {
  const text = (key: keyof typeof TEXTS) => localize(TEXTS[key], language);
  const count = (value: number | undefined) => (value === undefined ? text('unknown') : numberText(value, language));
  const tile = (label: string, value: string, to?: string) =>
    html`<div class="tile">
      <dt>${label}</dt>
      <dd>${to === undefined ? value : html`<a href="${to}">${value}</a>`}</dd>
    </div>`;
  const longest = questions === undefined ? text('unknown') : durationText(questions.longestMs, language);
  const jobRows = (['waiting', 'active', 'delayed', 'failed'] as const).map(
    (state) =>
      html`<tr>
        <th scope="row">${localize(JOB_STATES[state], language)}</th>
        <td class="number">${count(jobs[state])}</td>
      </tr>`,
  );
  const versionRows = [
    ['Parley', versions.parley],
    ['Node.js', versions.node],
    ['Redis', versions.redis === '' ? text('unknown') : versions.redis],
  ].map(([name, version]) => tile(name ?? '', version ?? ''));
  return html`<section aria-label="${text('now')}">
      <dl class="tiles">
        ${tile(text('waiting'), count(questions?.waiting))} ${tile(text('oldest'), longest)}
        ${tile(text('running'), count(questions?.running))}
        ${tile(text('dead'), count(deadLetters), '/admin/dead-letters')}
      </dl>
    </section>
    <section>
      <h2>${text('wakes')}</h2>
      <p class="quiet">${text('wakesNote')}</p>
      ${table(text('wakes'), [text('state'), text('count')], jobRows)}
    </section>
    <section>
      <h2>${text('versions')}</h2>
      <dl class="tiles versions">${versionRows}</dl>
    </section>`;
}
