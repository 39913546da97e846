import { html, type SafeHtml } from '../../../shared/text/html.ts';
import { localize, type Catalogue, type Language } from '../../../shared/text/texts.ts';
import type { ListedProcess } from '../../queue/process-list.ts';
import type { WaitingQuestions } from '../../queue/waiting-questions.ts';
import { table } from './layout.ts';
import { durationText, numberText } from './times.ts';

/** State of the deployment. An undefined value could not be read. */
export interface Overview {
  questions: WaitingQuestions | undefined;
  processes: readonly ListedProcess[];
  nowMs: number;
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
  processes: { en: 'Receivers and workers', zh: '接收与工作进程' },
  noProcess: { en: 'No receiver or worker is running.', zh: '没有运行中的接收进程或工作进程。' },
  instance: { en: 'Process', zh: '进程' },
  roles: { en: 'Roles', zh: '角色' },
  version: { en: 'Version', zh: '版本' },
  host: { en: 'Host and process id', zh: '主机与进程号' },
  uptime: { en: 'Running for', zh: '已运行' },
  seen: { en: 'Last seen', zh: '上次心跳' },
  ago: { en: '{time} ago', zh: '{time}前' },
  answers: { en: 'Answers', zh: '回答' },
  of: { en: '{count} of {max}', zh: '{count} / {max}' },
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

const PROCESS_STATES: Catalogue<ListedProcess['state']> = {
  alive: { en: 'alive', zh: '正常' },
  draining: { en: 'draining', zh: '正在关闭' },
  silent: { en: 'not responding', zh: '无响应' },
};

function processTable({ processes, nowMs }: Overview, language: Language): SafeHtml {
  const text = (key: keyof typeof TEXTS) => localize(TEXTS[key], language);
  const rows = processes.map(({ startedAtMs, runningTurns, maxTurns, ...one }) => {
    const uptime = startedAtMs === undefined ? '–' : durationText(Math.max(0, nowMs - startedAtMs), language);
    const count = runningTurns === undefined ? '' : numberText(runningTurns, language);
    const max = maxTurns === undefined ? '–' : numberText(maxTurns, language);
    return html`<tr>
      <th scope="row"><code>${one.instance}</code></th>
      <td>${localize(PROCESS_STATES[one.state], language)}</td>
      <td>${one.roles.join(', ')}</td>
      <td class="number">${count === '' ? '–' : localize(TEXTS.of, language, { count, max })}</td>
      <td class="number">${localize(TEXTS.ago, language, { time: durationText(one.seenAgoMs, language) })}</td>
      <td class="number">${uptime}</td>
      <td>${one.version ?? '–'}</td>
      <td>${one.host ?? '–'} ${one.pid}</td>
    </tr>`;
  });
  const heads = (['instance', 'state', 'roles', 'answers', 'seen', 'uptime', 'version', 'host'] as const).map(text);
  return table(text('processes'), heads, rows, text('noProcess'));
}

export function overviewBody(overview: Overview, language: Language): SafeHtml {
  const { questions, deadLetters, jobs, versions } = overview;
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
      <h2>${text('processes')}</h2>
      ${processTable(overview, language)}
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
