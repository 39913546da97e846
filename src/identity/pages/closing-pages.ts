import { html, type SafeHtml } from '../../base/html.ts';
import { say, type Catalogue, type Language } from '../../base/texts.ts';
import { page } from './layout.ts';

const TEXTS: Catalogue<'done' | 'doneNext' | 'undo' | 'cancelled' | 'cancelledNext'> = {
  done: { en: 'You are connected as {name}', zh: '你已绑定为 {name}' },
  doneNext: {
    en: 'Go back to the chat; your question is being answered.',
    zh: '请回到聊天，你的问题正在得到回答。',
  },
  undo: { en: 'Not you? Send /unlink to the bot.', zh: '不是你本人？请给机器人发送 /unlink。' },
  cancelled: { en: 'Nothing was connected', zh: '未建立任何绑定' },
  cancelledNext: {
    en: 'You can close this page. To start again, send /signin in the chat.',
    zh: '你可以关闭此页面。如需重新开始，请在聊天中发送 /signin。',
  },
};

/** The last page of a sign-in that worked. */
export function donePage(language: Language, name: string): SafeHtml {
  const body = html`<p class="lead">${say(TEXTS.doneNext, language)}</p>
    <p class="quiet">${say(TEXTS.undo, language)}</p>`;
  const title = say(TEXTS.done, language, { name });
  return page({ language, title, body: html`<div class="closing good">${tick}${body}</div>` });
}

/** After the quiet way out. */
export function cancelledPage(language: Language): SafeHtml {
  const body = html`<p class="lead">${say(TEXTS.cancelledNext, language)}</p>`;
  return page({ language, title: say(TEXTS.cancelled, language), body: html`<div class="closing">${body}</div>` });
}

const tick = html`<svg class="mark" viewBox="0 0 48 48" width="48" height="48" aria-hidden="true" focusable="false">
  <circle cx="24" cy="24" r="23" fill="currentColor" opacity="0.14" />
  <path
    d="M14 25l7 7 13-15"
    fill="none"
    stroke="currentColor"
    stroke-width="3.5"
    stroke-linecap="round"
    stroke-linejoin="round"
  />
</svg>`;
