import type { Catalogue } from '../../shared/text/texts.ts';

/** Sign-in texts in the chat. `{link}` is a labelled link, or only the address. */
export const SIGN_IN_TEXTS = {
  linkLabel: { en: 'Sign in', zh: '登录' },
  signOutLabel: { en: 'Sign out', zh: '退出登录' },
  invitation: {
    en: 'Please sign in first: {link}\n\nThis link is for you only and expires in {minutes} {minutes:minute|minutes}.',
    zh: '请先登录：{link}\n\n此链接仅供你本人使用，{minutes} 分钟内有效。',
  },
  invitationHeld: {
    en: 'Please sign in first: {link}\n\nThis link is for you only and expires in {minutes} {minutes:minute|minutes}. I will answer your question as soon as you are signed in.',
    zh: '请先登录：{link}\n\n此链接仅供你本人使用，{minutes} 分钟内有效。登录后会在这里直接回答你的问题。',
  },
  invitationForGroup: {
    en: 'Please sign in first: {link}\n\nThis link is for you only and expires in {minutes} {minutes:minute|minutes}. Once you are signed in, I will answer your question in the group.',
    zh: '请先登录：{link}\n\n此链接仅供你本人使用，{minutes} 分钟内有效。登录后会在群里回答你的问题。',
  },
  waitingForSignIn: {
    en: 'I have kept this question too and will answer it once you are signed in: {link}',
    zh: '这个问题也已保留，登录后会在这里回答：{link}',
  },
  tooManyHeld: {
    en: 'I can keep up to {count} questions before you sign in. Please sign in first: {link}',
    zh: '登录前最多为你保留 {count} 个问题，请先登录：{link}',
  },
  tooManyThreadsHeld: {
    en: 'I can keep questions in up to {count} threads before you sign in. Please sign in first: {link}',
    zh: '登录前最多为你保留 {count} 个消息列中的问题，请先登录：{link}',
  },
  signInToUse: {
    en: 'Please sign in before you ask: {link}\n\nThen ask again. This link is for you only and expires in {minutes} {minutes:minute|minutes}.',
    zh: '登录后即可提问：{link}\n\n登录后请重新提问。此链接仅供你本人使用，{minutes} 分钟内有效。',
  },
  named: { en: '{name}, {text}', zh: '{name}，{text}' },
  groupSignIn: {
    en: 'please message me privately to sign in, then ask again here.',
    zh: '请先私聊我完成登录，然后在这里重新提问。',
  },
  groupSignInHeld: {
    en: 'please message me privately to sign in. If you sign in within ten minutes, I will answer your question here.',
    zh: '请先私聊我完成登录。十分钟内登录，我会在这里回答你的问题。',
  },
  groupSignInSent: {
    en: 'please sign in first; I have sent you a private message. Then ask again here.',
    zh: '请先登录，我已给你发送私信。登录后请在这里重新提问。',
  },
  groupSignInSentHeld: {
    en: 'please sign in first; I have sent you a private message. If you sign in within ten minutes, I will answer your question here.',
    zh: '请先登录，我已给你发送私信。十分钟内登录，我会在这里回答你的问题。',
  },
  groupTooOld: {
    en: 'you are signed in now, but this question is more than ten minutes old. Please ask again here.',
    zh: '你已登录，但这个问题已超过十分钟，请在这里重新提问。',
  },
  unlinked: {
    en: 'You are signed out. Your sign-in and this conversation have been deleted. To sign out of {service} as well: {link}',
    zh: '你已退出登录，登录信息和此对话已删除。如需同时退出登录服务（{service}）：{link}',
  },
  unlinkedHere: {
    en: 'You are signed out. Your sign-in and this conversation have been deleted. You may still be signed in to {service} in your browser.',
    zh: '你已退出登录，登录信息和此对话已删除。你在浏览器中可能仍处于登录服务（{service}）的登录状态。',
  },
} as const satisfies Catalogue<string>;
