import { html, type SafeHtml } from '../../base/html.ts';
import { say, type Catalogue, type Language } from '../../base/texts.ts';
import { maskId } from '../mask.ts';
import type { Profile } from '../oauth/profile-response.ts';
import { chatSide, page, pairOf, platformLabel, type ShownPerson } from './layout.ts';

const TEXTS: Catalogue<'title' | 'question' | 'joins' | 'go' | 'goToCode' | 'cancel' | 'after' | 'afterCode' | 'undo'> =
  {
    title: { en: 'Are both of these you?', zh: '这两个账号都是你的吗？' },
    question: {
      en: 'The assistant in {platform} will answer this chat account as {name}.',
      zh: '{platform}中的助手将以{name}的身份回答此聊天账号。',
    },
    joins: { en: 'will be connected with', zh: '将绑定到' },
    go: { en: 'Yes, connect', zh: '是，绑定' },
    goToCode: { en: 'Yes, show my code', zh: '是，显示验证码' },
    cancel: { en: 'No, cancel', zh: '不，取消' },
    after: {
      en: 'After that, go back to the chat: the question you asked is answered there.',
      zh: '完成后回到聊天：你提出的问题会在那里得到回答。',
    },
    afterCode: {
      en: 'You get a code to type in your private chat; then the question you asked is answered there.',
      zh: '你会得到一个验证码，在私聊中输入后，你提出的问题会在那里得到回答。',
    },
    undo: { en: 'You can undo this at any time with /unlink.', zh: '你可以随时发送 /unlink 解绑。' },
  };

interface ConfirmView {
  language: Language;
  person: ShownPerson;
  profile: Profile;
  providerName: string;
  csrf: string;
  /** What comes next is a code for the chat, not yet the link (proof L3). */
  endsWithCode: boolean;
}

/** Asks the person who signed in whether the chat account is theirs (security.md 1.3 step 20). */
export function confirmPage(view: ConfirmView): SafeHtml {
  const { language, person, profile, providerName, csrf, endsWithCode } = view;
  const values = { platform: platformLabel(person.platform, language), name: profile.name };
  const text = (key: keyof typeof TEXTS) => say(TEXTS[key], language, values);
  const account = { place: providerName, name: profile.name, detail: maskId(profile.id) };
  const form = (action: string, className: string, label: string) =>
    html`<form method="post" action="${action}">
      <input type="hidden" name="csrf" value="${csrf}" />
      <button class="${className}" type="submit">${label}</button>
    </form>`;
  const body = html`<p class="lead">${text('question')}</p>
    ${pairOf(chatSide(person, language), account, text('joins'))}
    ${form('/sign-in/confirm', 'primary', text(endsWithCode ? 'goToCode' : 'go'))}
    ${form('/sign-in/cancel', 'plain', text('cancel'))}
    <p class="quiet">${text(endsWithCode ? 'afterCode' : 'after')} ${text('undo')}</p>`;
  return page({ language, title: text('title'), header: providerName, body });
}
