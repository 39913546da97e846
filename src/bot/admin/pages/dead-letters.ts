import { postForm } from '../../../shared/pages/html-document.ts';
import { html, type SafeHtml } from '../../../shared/text/html.ts';
import { localize, type Catalogue } from '../../../shared/text/texts.ts';
import type { DeadLetter, ReplayResult } from '../../queue/dead-letters.ts';
import { intro, resultText, table, type ActView } from './layout.ts';
import { timeAt } from './times.ts';

const TEXTS = {
  lead: {
    en: 'Questions that were given up or could not be read, newest first and without their text. They are kept for seven days; each can be put back once.',
    zh: '被放弃或无法读取的问题，最新的在前，不含正文。死信保存七天，每条可重放一次。',
  },
  none: { en: 'There are no dead letters.', zh: '没有死信。' },
  table: { en: 'Dead letters', zh: '死信' },
  time: { en: 'Time', zh: '时间' },
  why: { en: 'Reason', zh: '原因' },
  messages: { en: 'Messages', zh: '消息数' },
  id: { en: 'Id', zh: '编号' },
  act: { en: 'Replay', zh: '重放' },
  replay: { en: 'Replay', zh: '重放' },
  about: { en: 'Replay {id}', zh: '重放 {id}' },
  replayed: { en: 'replayed', zh: '已重放' },
} as const satisfies Catalogue<string>;

const REASONS: Catalogue<DeadLetter['why']> = {
  crashed: { en: 'its workers crashed', zh: '工作进程崩溃' },
  unreadable: { en: 'it could not be decrypted', zh: '无法解密' },
};

const RESULTS: Catalogue<ReplayResult> = {
  replayed: { en: 'The question was put back. It is answered within seconds.', zh: '问题已重新排队，几秒内开始回答。' },
  unknown: { en: 'No dead letter has this id. They are kept for seven days.', zh: '没有此编号的死信。死信保存七天。' },
  again: { en: 'This dead letter was replayed before.', zh: '此死信已经重放过。' },
  full: {
    en: 'Too many messages wait in its conversation. Try again later.',
    zh: '该对话中等待的消息过多，请稍后再试。',
  },
  unreadable: { en: 'It cannot be decrypted with the present keys.', zh: '无法用现有密钥解密。' },
};

interface DeadLettersView extends ActView {
  timeZone: string;
  letters: readonly DeadLetter[];
}

export function deadLettersBody({ frame, timeZone, letters, result }: DeadLettersView): SafeHtml {
  const { language, csrf } = frame;
  const text = (key: keyof typeof TEXTS) => localize(TEXTS[key], language);
  const row = ({ id, atMs, why, messages, replayedAtMs }: DeadLetter) => {
    const about = localize(TEXTS.about, language, { id: id.slice(0, 8) });
    const form = postForm(
      '/admin/dead-letters/replay',
      csrf,
      html`<input type="hidden" name="id" value="${id}" /><button class="small" type="submit" aria-label="${about}">
          ${text('replay')}
        </button>`,
    );
    return html`<tr>
      <td class="time">${timeAt(atMs, timeZone)}</td>
      <td>${localize(REASONS[why], language)}</td>
      <td class="number">${messages}</td>
      <td>
        <a href="/admin/trace?reference=${id}"><code>${id.slice(0, 8)}</code></a>
      </td>
      <td>${replayedAtMs === undefined ? form : html`${text('replayed')} ${timeAt(replayedAtMs, timeZone)}`}</td>
    </tr>`;
  };
  const heads = [text('time'), text('why'), text('messages'), text('id'), text('act')];
  return html`${intro(text('lead'), resultText(RESULTS, result, language))}
  ${table(text('table'), heads, letters.map(row), text('none'))}`;
}
