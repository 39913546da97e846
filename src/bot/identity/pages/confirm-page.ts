import { pairOf } from '../../../shared/pages/account-pair.ts';
import { postForm } from '../../../shared/pages/html-document.ts';
import { html, type SafeHtml } from '../../../shared/text/html.ts';
import { localize, type Catalogue, type Language } from '../../../shared/text/texts.ts';
import { maskId } from '../mask-id.ts';
import type { Profile } from '../oauth/profile-response.ts';
import { chatSide, page, platformLabel, type ShownPerson } from './layout.ts';
import { inSentence, localizeForPlatform } from './page-words.ts';

const TEXTS = {
  title: { en: 'Are both of these you?', zh: '这两个账号都是你的吗？' },
  question: {
    en: 'In {platform}, the bot will treat this chat account as {name}.',
    zh: '此聊天账号将以{name}的身份使用{platform}中的机器人。',
  },
  joins: { en: 'will be connected with', zh: '将绑定到' },
  go: { en: 'Confirm and sign in', zh: '确认登录' },
  goToCode: { en: 'Yes, show my code', zh: '是，显示验证码' },
  cancel: { en: 'No, cancel', zh: '不是，取消' },
  answered: { en: 'Return to the chat to see the answer.', zh: '返回聊天查看回答。' },
  back: { en: 'Then return to the chat.', zh: '完成后返回聊天。' },
  code: { en: 'You will get a code to type in your private chat.', zh: '接下来会显示验证码，请在私聊中输入。' },
  codeAnswered: {
    en: 'You will get a code to type in your private chat; your question is then answered.',
    zh: '接下来会显示验证码，在私聊中输入后即可看到回答。',
  },
  undo: { en: 'You can sign out at any time with /unlink.', zh: '你可以随时发送“解绑”退出登录。' },
} as const satisfies Catalogue<string>;

interface ConfirmView {
  language: Language;
  person: ShownPerson;
  profile: Profile;
  providerName: string;
  csrf: string;
  /** The next step is a typed code, not yet the link (proof typed-code). */
  endsWithCode: boolean;
  /** Whether a question will be answered afterwards. */
  isAwaited: boolean;
}

/** Asks the signed-in user whether the chat account is theirs (SECURITY.md confirmed-by-name). */
export function confirmPage(view: ConfirmView): SafeHtml {
  const { language, person, profile, providerName, csrf, endsWithCode, isAwaited } = view;
  const [plain, awaited] = endsWithCode ? (['code', 'codeAnswered'] as const) : (['back', 'answered'] as const);
  const platform = inSentence(platformLabel(person.platform, language), language);
  const values = { platform, name: inSentence(profile.name, language) };
  const text = (key: keyof typeof TEXTS) => localize(TEXTS[key], language, values);
  const account = { place: providerName, name: profile.name, detail: maskId(profile.id) };
  const form = (action: string, className: string, label: string) =>
    postForm(action, csrf, html`<button class="${className}" type="submit">${label}</button>`);
  const body = html`<p class="lead">${text('question')}</p>
    ${pairOf(chatSide(person, language), account, text('joins'))}
    ${form('/sign-in/confirm', 'primary', text(endsWithCode ? 'goToCode' : 'go'))}
    ${form('/sign-in/cancel', 'plain', text('cancel'))}
    <p class="quiet">
      ${text(isAwaited ? awaited : plain)}${language === 'en' ? ' ' : ''}${localizeForPlatform(TEXTS.undo, language, person.platform)}
    </p>`;
  return page({ language, title: text('title'), header: providerName, body });
}
