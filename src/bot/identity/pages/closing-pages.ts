import { html, type SafeHtml } from '../../../shared/text/html.ts';
import { localize, type Bilingual, type Catalogue, type Language } from '../../../shared/text/texts.ts';
import type { BackToChat } from '../../platforms/platform.ts';
import type { WaitsFor } from '../links/waiting.ts';
import { backToChat } from './back-to-chat.ts';
import { page, type PageOutcome } from './layout.ts';
import { inSentence, localizeForPlatform } from './page-words.ts';
import type { TryAgain } from './page-error.ts';
import { tryAgainForm } from './try-again.ts';

const TEXTS = {
  done: { en: 'You are signed in as {name}', zh: '登录成功：{name}' },
  undo: { en: 'Not you? Send /unlink to the bot.', zh: '不是你本人？请给机器人发送“解绑”。' },
  cancelled: { en: 'No account was connected', zh: '未绑定任何账号' },
  cancelledNext: {
    en: 'You can close this page. To start again, send /signin in the chat.',
    zh: '你可以关闭此页面。如需重新开始，请在聊天中发送“登录”。',
  },
  declined: { en: 'You declined to share your account', zh: '你已拒绝授权' },
  declinedNext: { en: 'No account was connected. Changed your mind?', zh: '未绑定任何账号。如需继续，请重试。' },
  signedOut: { en: 'You are signed out', zh: '你已退出登录' },
  signedOutNext: {
    en: 'You can close this page and go back to the chat. To sign in again, send /signin there.',
    zh: '你可以关闭此页面，返回聊天。如需再次登录，请在聊天中发送“登录”。',
  },
  returned: { en: 'You are back from {provider}', zh: '你已从{provider}返回' },
  returnedNext: {
    en: 'Signing in or out there does not affect this bot; no chat account was connected. To sign in to the bot, send /signin in the chat.',
    zh: '在那里登录或退出不影响机器人，未绑定任何聊天账号。如需登录机器人，请在聊天中发送“登录”。',
  },
} as const satisfies Catalogue<string>;

/** What happens in the chat after the sign-in. */
const NEXT: Readonly<Record<WaitsFor, Bilingual>> = {
  private: {
    en: 'Return to the chat; your question is being answered.',
    zh: '请返回聊天，正在为你回答。',
  },
  group: {
    en: 'Return to the group; your question is being answered there.',
    zh: '请返回群聊，正在为你回答。',
  },
  'too-old-in-group': {
    en: 'Return to the group and ask again: your question is more than ten minutes old.',
    zh: '请返回群聊重新提问：你的问题已超过十分钟。',
  },
  nothing: { en: 'You can go back to the chat now.', zh: '现在可以返回聊天了。' },
};

interface ClosingView {
  language: Language;
  back: BackToChat | undefined;
}

/** The last page of a successful sign-in. */
export function donePage({
  language,
  back,
  name,
  waitsFor,
}: ClosingView & { name: string; waitsFor: WaitsFor }): SafeHtml {
  const body = html`${tick}
    <p class="lead">${localize(NEXT[waitsFor], language)}</p>
    ${backToChat(back, { language, isPrimary: true })}
    <p class="quiet">${localizeForPlatform(TEXTS.undo, language, back?.platform)}</p>`;
  return closing({ language, back }, { outcome: 'done', title: localize(TEXTS.done, language, { name }), body });
}

/** Shown after the user cancelled. */
export function cancelledPage(view: ClosingView): SafeHtml {
  return plainClosing(view, {
    outcome: 'cancelled',
    title: localize(TEXTS.cancelled, view.language),
    next: TEXTS.cancelledNext,
  });
}

/** Shown after signing out at the sign-in service as well. */
export function signedOutPage(view: ClosingView): SafeHtml {
  return plainClosing(view, {
    outcome: 'signed-out',
    title: localize(TEXTS.signedOut, view.language),
    next: TEXTS.signedOutNext,
  });
}

/** Shown to users who return from the sign-in service without a result, after signing out or in there. */
export function returnedPage({ providerName, ...view }: ClosingView & { providerName: Bilingual }): SafeHtml {
  const { language } = view;
  const provider = inSentence(localize(providerName, language), language);
  return plainClosing(view, {
    outcome: 'returned',
    title: localize(TEXTS.returned, language, { provider }),
    next: TEXTS.returnedNext,
  });
}

/** Shown after the user declined at the sign-in service, with an option to try again. */
export function declinedPage({ again, ...view }: ClosingView & { again: TryAgain }): SafeHtml {
  const { language, back } = view;
  const body = html`<p class="lead">${localize(TEXTS.declinedNext, language)}</p>
    ${tryAgainForm(again, language)} ${backToChat(back, { language, isPrimary: false })}`;
  return closing(view, { outcome: 'declined', title: localize(TEXTS.declined, language), body });
}

function plainClosing(
  view: ClosingView,
  { outcome, title, next }: { outcome: PageOutcome; title: string; next: Bilingual },
): SafeHtml {
  const { language, back } = view;
  const body = html`<p class="lead">${localizeForPlatform(next, language, back?.platform)}</p>
    ${backToChat(back, { language, isPrimary: true })}`;
  return closing(view, { outcome, title, body });
}

function closing(
  { language, back }: ClosingView,
  { outcome, title, body }: { outcome: PageOutcome; title: string; body: SafeHtml },
): SafeHtml {
  const className = outcome === 'done' ? 'closing good' : 'closing';
  return page({ language, title, outcome, back, body: html`<div class="${className}">${body}</div>` });
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
