import { postForm } from '../../../shared/pages/html-document.ts';
import { html, type SafeHtml } from '../../../shared/text/html.ts';
import { localize, type Catalogue, type Language } from '../../../shared/text/texts.ts';
import { CODE_SCRIPT_PATH } from './code-script.ts';
import { chatAccount, page, platformLabel, type ShownPerson } from './layout.ts';
import { inSentence } from './page-words.ts';

const TEXTS = {
  title: { en: 'Type this code in the chat', zh: '请在聊天中输入此验证码' },
  lead: {
    en: 'One step left. As {chat}, type this code in your private chat with the bot in {platform}:',
    zh: '还差一步。请用{chat}的身份在{platform}中私聊机器人，输入：',
  },
  yet: { en: 'The chat has not received this code yet.', zh: '聊天中尚未收到此验证码。' },
  code: { en: 'Your code', zh: '你的验证码' },
  life: { en: 'Valid for {minutes} minutes.', zh: '{minutes} 分钟内有效。' },
  oneMinute: { en: 'Valid for one more minute.', zh: '1 分钟内有效。' },
  warning: {
    en: 'Never share this code with anyone; our staff will never ask for it.',
    zh: '切勿告诉任何人，我们的工作人员绝不会索要。',
  },
  after: { en: 'You will then be signed in there as {name}.', zh: '输入后，你将以{name}的身份登录。' },
  afterAnswered: {
    en: 'You will then be signed in there as {name}, and your question is answered.',
    zh: '输入后，你将以{name}的身份登录，并可看到回答。',
  },
  typed: { en: 'I have typed it', zh: '我已输入' },
  copy: { en: 'Copy the code', zh: '复制验证码' },
  copied: { en: 'Copied. Paste the code in the chat.', zh: '已复制，请粘贴到聊天中发送。' },
  select: { en: 'The code is selected. Copy it.', zh: '已选中验证码，请手动复制。' },
  waiting: {
    en: 'This page continues by itself once the chat has received the code.',
    zh: '聊天收到验证码后，本页会自动跳转。',
  },
  received: { en: 'The chat has received your message. Please wait…', zh: '聊天已收到你的消息，请稍候…' },
  renew: { en: 'New code', zh: '重新获取' },
  cancel: { en: 'Cancel', zh: '取消' },
} as const satisfies Catalogue<string>;

interface CodeView {
  language: Language;
  person: ShownPerson;
  accountName: string;
  providerName: string;
  code: string;
  minutesLeft: number;
  csrf: string;
  /** The page was reloaded, and the code has not been typed yet. */
  isAgain: boolean;
  /** Serial of this code, if another may replace it. */
  replaces?: number;
  /** Whether a question will be answered afterwards. */
  isAwaited: boolean;
}

/** Shows the code to type in the chat (SECURITY.md typed-code) and the next step. */
export function codePage(view: CodeView): SafeHtml {
  const { language, person, accountName, providerName, code, minutesLeft, csrf, isAgain, replaces, isAwaited } = view;
  const chat = inSentence(chatAccount(person, language), language);
  const platform = inSentence(platformLabel(person.platform, language), language);
  const values = { platform, chat, name: inSentence(accountName, language), minutes: minutesLeft };
  const text = (key: keyof typeof TEXTS) => localize(TEXTS[key], language, values);
  const form = (action: string, label: string, fields: SafeHtml | '' = '') =>
    postForm(action, csrf, html`${fields} <button class="plain" type="submit">${label}</button>`);
  const serial = html`<input type="hidden" name="serial" value="${replaces}" />`;
  const body = html`<p class="lead">${text('lead')}</p>
    ${isAgain ? html`<p class="notice info" role="status">${text('yet')}</p>` : ''}
    <section class="code" aria-label="${text('code')}">
      <p class="symbols">${code.slice(0, 4)}-${code.slice(4)}</p>
      <button class="button copy" type="button" hidden>${text('copy')}</button>
      <p class="life">${text(minutesLeft === 1 ? 'oneMinute' : 'life')}</p>
    </section>
    <p
      class="quiet listening"
      role="status"
      data-waiting="${text('waiting')}"
      data-copied="${text('copied')}"
      data-select="${text('select')}"
      data-typed="${text('received')}"
    ></p>
    <p class="notice" role="note"><strong>${text('warning')}</strong></p>
    <a class="primary" href="/sign-in/confirm">${text('typed')}</a>
    <div class="buttons">
      ${replaces === undefined ? '' : form('/sign-in/new-code', text('renew'), serial)}
      ${form('/sign-in/cancel', text('cancel'))}
    </div>
    <p class="quiet">${text(isAwaited ? 'afterAnswered' : 'after')}</p>`;
  return page({ language, title: text('title'), header: providerName, script: CODE_SCRIPT_PATH, body });
}
