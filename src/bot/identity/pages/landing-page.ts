import { pairOf } from '../../../shared/pages/account-pair.ts';
import { postForm } from '../../../shared/pages/html-document.ts';
import { html, type SafeHtml } from '../../../shared/text/html.ts';
import { localize, type Catalogue, type Language } from '../../../shared/text/texts.ts';
import type { BackToChat } from '../../platforms/platform.ts';
import { backToChat } from './back-to-chat.ts';
import { chatSide, page, platformLabel, type ShownPerson } from './layout.ts';
import { inSentence } from './page-words.ts';

const TEXTS = {
  title: { en: 'Sign in to continue', zh: '登录后继续' },
  lead: {
    en: 'You sent a message to the bot in {platform}. It needs to know who you are before it can answer.',
    zh: '你在{platform}中给机器人发了消息。机器人需要先确认你的身份，才能回答。',
  },
  next: { en: 'Not signed in yet', zh: '待登录' },
  joins: { en: 'will be connected with', zh: '将绑定到' },
  warning: {
    en: 'Continue only if you requested this in that chat. If someone sent you this link, close this page.',
    zh: '仅当你本人在该聊天中提出请求时才继续。如果链接是别人发给你的，请关闭此页面。',
  },
  steps: { en: 'What happens next', zh: '接下来' },
  asksApp: { en: '{platform} confirms your account there.', zh: '由{platform}确认你的账号。' },
  signIn: { en: 'Sign in at {provider}.', zh: '在{provider}中登录。' },
  check: { en: 'Confirm that both accounts are yours.', zh: '确认两个账号都是你的。' },
  type: {
    en: 'Get a code on this page and type it in your private chat. Never share it with anyone.',
    zh: '本页会显示一个验证码，请在私聊中输入，切勿告诉任何人。',
  },
  answer: { en: 'Return to the chat to see the answer.', zh: '返回聊天查看回答。' },
  back: { en: 'Return to the chat.', zh: '返回聊天。' },
  go: { en: 'Continue', zh: '继续' },
  leave: {
    en: 'Not you? Close this page; no account has been connected.',
    zh: '不是你？关闭此页面即可，尚未绑定任何账号。',
  },
  elsewhere: { en: 'Open this link in {platform}', zh: '请在{platform}中打开此链接' },
  elsewhereLead: {
    en: 'Go back to the chat in {platform} and open the link there. The link is still valid.',
    zh: '请回到{platform}的聊天中打开此链接。链接仍然有效。',
  },
  elsewhereWhy: {
    en: 'You can be identified only in {platform}, so you cannot sign in from this browser.',
    zh: '只有在{platform}中才能识别你的身份，因此无法在此浏览器中登录。',
  },
} as const satisfies Catalogue<string>;

interface LandingView {
  language: Language;
  person: ShownPerson;
  providerName: string;
  action: string;
  csrf: string;
  /** Proof same-browser, if the app's own web sign-in shows a page. */
  asksApp: boolean;
  /** Proof typed-code: a code must be typed in the chat. */
  endsWithCode: boolean;
  /** Whether a question will be answered after the sign-in. */
  isAwaited: boolean;
}

/** The page behind an invitation link, shown before anything happens (SECURITY.md named-before-consent). */
export function landingPage(view: LandingView): SafeHtml {
  const { language, person, providerName, action, csrf, asksApp, endsWithCode, isAwaited } = view;
  const values = {
    platform: inSentence(platformLabel(person.platform, language), language),
    provider: inSentence(providerName, language),
  };
  const text = (key: keyof typeof TEXTS) => localize(TEXTS[key], language, values);
  const provider = { place: providerName, name: text('next'), detail: '', isOpen: true };
  const body = html`<p class="lead">${text('lead')}</p>
    ${pairOf(chatSide(person, language), provider, text('joins'))}
    <p class="notice" role="note">${text('warning')}</p>
    ${postForm(action, csrf, html`<button class="primary" type="submit">${text('go')}</button>`)}
    <p class="quiet">${text('leave')}</p>
    <section class="steps" aria-labelledby="steps">
      <h2 id="steps">${text('steps')}</h2>
      <ol>
        ${asksApp ? html`<li>${text('asksApp')}</li>` : ''}
        <li>${text('signIn')}</li>
        <li>${text('check')}</li>
        ${endsWithCode ? html`<li>${text('type')}</li>` : ''}
        <li>${text(isAwaited ? 'answer' : 'back')}</li>
      </ol>
    </section>`;
  return page({ language, title: text('title'), header: providerName, body });
}

interface ElsewhereView {
  language: Language;
  person: ShownPerson;
  providerName: string;
  back: BackToChat | undefined;
}

/** Shown if the link was opened outside the app that it requires. Offers no action that would use it up. */
export function openInAppPage({ language, person, providerName, back }: ElsewhereView): SafeHtml {
  const values = { platform: inSentence(platformLabel(person.platform, language), language) };
  const text = (key: keyof typeof TEXTS) => localize(TEXTS[key], language, values);
  const provider = { place: providerName, name: text('next'), detail: '', isOpen: true };
  const body = html`<p class="lead">${text('elsewhereLead')}</p>
    ${pairOf(chatSide(person, language), provider, text('joins'))}
    <p class="notice info" role="note">${text('elsewhereWhy')}</p>
    ${backToChat(back, { language, isPrimary: true })}
    <p class="quiet">${text('leave')}</p>`;
  return page({ language, title: text('elsewhere'), header: providerName, back, body });
}
