import type { Bilingual } from '../../base/texts.ts';
import type { ErrorPage } from './page-error.ts';

interface ErrorText {
  status: number;
  /** What happened, in one sentence. */
  title: Bilingual;
  /** What to do, in one sentence. */
  next: Bilingual;
  /** Where the next step leads: to the chat (no app tells us an address of its own, so words say it), to the help desk, or to the same page again. */
  way: 'chat' | 'help' | 'again';
  retryAfterSec?: number;
}

const NEW_LINK: Bilingual = {
  en: 'Go back to the chat and send /signin to get a new link.',
  zh: '请回到聊天，发送 /signin 获取新的链接。',
};

/** Status and wording of each error page (security.md 1.4). */
export const ERROR_TEXTS: Readonly<Record<ErrorPage, ErrorText>> = {
  E1: {
    status: 410,
    title: { en: 'This link cannot be used any more', zh: '此链接已无法使用' },
    next: NEW_LINK,
    way: 'chat',
  },
  E2: {
    status: 400,
    title: { en: 'This sign-in did not fit together', zh: '本次登录无法继续' },
    next: {
      en: 'Start again with a new link (/signin in the chat); if it happens again, stay in one browser or app and allow cookies.',
      zh: '请在聊天中发送 /signin 重新开始；如果再次出现，请始终使用同一个浏览器或应用，并允许使用 Cookie。',
    },
    way: 'chat',
  },
  E3: {
    status: 403,
    title: {
      en: 'This sign-in belongs to a different chat account; nothing was linked',
      zh: '此次登录属于另一个聊天账号，未建立任何绑定',
    },
    next: {
      en: 'If you wanted to connect your own account, write to the bot yourself and use the link that it gives you.',
      zh: '如果你想绑定自己的账号，请亲自给机器人发消息，并使用它发给你的链接。',
    },
    way: 'chat',
  },
  'E3-unverifiable': {
    status: 403,
    title: {
      en: 'This chat account’s id cannot be verified here; nothing was linked',
      zh: '此处无法核实该聊天账号的身份，未建立任何绑定',
    },
    next: {
      en: 'Please tell your administrator that the bot is not allowed to read your member id.',
      zh: '请告知管理员：机器人没有读取你成员账号的权限。',
    },
    way: 'help',
  },
  E4: {
    status: 502,
    title: { en: 'The sign-in service did not finish', zh: '登录服务未能完成' },
    next: {
      en: 'Please try again; if it keeps failing, send /signin in the chat in a few minutes.',
      zh: '请重试；如果仍然失败，请几分钟后在聊天中发送 /signin。',
    },
    way: 'chat',
  },
  E5: {
    status: 403,
    title: { en: 'This form did not come from our page', zh: '此表单并非来自我们的页面' },
    next: { en: 'Open the link from the chat again.', zh: '请重新从聊天中打开链接。' },
    way: 'chat',
  },
  E6: {
    status: 403,
    title: { en: 'This account cannot be used here', zh: '此账号无法在这里使用' },
    next: {
      en: 'Please contact the help desk and give them the reference below.',
      zh: '请联系服务台，并提供下方的编号。',
    },
    way: 'help',
  },
  E7: {
    status: 409,
    title: { en: 'This account is linked to another chat user', zh: '此账号已绑定到另一个聊天用户' },
    next: {
      en: 'Send /unlink to the bot from that chat account first, then ask here again with /signin.',
      zh: '请先用那个聊天账号给机器人发送 /unlink 解绑，再在这里发送 /signin。',
    },
    way: 'chat',
  },
  'E7-this-chat': {
    status: 409,
    title: { en: 'This chat is already linked to another account', zh: '此聊天已绑定另一个账号' },
    next: {
      en: 'Send /unlink to the bot in your private chat first, then /signin.',
      zh: '请先在与机器人的私聊中发送 /unlink 解绑，再发送 /signin。',
    },
    way: 'chat',
  },
  E8: {
    status: 429,
    title: { en: 'Too many tries in a short time', zh: '短时间内尝试次数过多' },
    next: { en: 'Wait a minute, then try again.', zh: '请等待一分钟后重试。' },
    way: 'again',
    retryAfterSec: 60,
  },
  E9: {
    status: 503,
    title: { en: 'Sign-in is not available right now', zh: '登录暂时不可用' },
    next: { en: 'Try again in a minute.', zh: '请一分钟后重试。' },
    way: 'again',
    retryAfterSec: 60,
  },
};
