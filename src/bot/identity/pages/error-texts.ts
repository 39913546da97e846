import type { Bilingual } from '../../../shared/text/texts.ts';
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
  zh: '请返回聊天，发送“登录”获取新的链接。',
};

/** Status and wording of each error page (SECURITY.md page-headers). */
export const ERROR_TEXTS: Readonly<Record<ErrorPage, ErrorText>> = {
  'link-used-up': {
    status: 410,
    title: { en: 'This link cannot be used any more', zh: '此链接已无法使用' },
    next: NEW_LINK,
    way: 'chat',
  },
  'sign-in-broken-off': {
    status: 400,
    title: { en: 'This sign-in could not be completed', zh: '本次登录无法继续' },
    next: {
      en: 'Send /signin in the chat to get a new link. If it happens again, stay in one browser and allow cookies.',
      zh: '请在聊天中发送“登录”获取新的链接。如果再次出现，请在同一个浏览器中完成登录，并允许 Cookie。',
    },
    way: 'chat',
  },
  'other-chat-account': {
    status: 403,
    title: {
      en: 'This sign-in belongs to a different chat account; nothing was connected',
      zh: '此次登录属于另一个聊天账号，没有绑定任何账号',
    },
    next: {
      en: 'To sign in yourself, write to the bot from your own account and use the link that it sends you.',
      zh: '如果你想登录自己的账号，请用自己的账号给机器人发消息，并打开它发给你的链接。',
    },
    way: 'chat',
  },
  'other-organisation': {
    status: 403,
    title: {
      en: 'This sign-in belongs to another organisation’s workspace; nothing was connected',
      zh: '此次登录属于其他组织的工作区，没有绑定任何账号',
    },
    next: {
      en: 'Send /signin from your own account to get a new link, and choose the workspace in which you wrote to the bot.',
      zh: '请用自己的账号发送“登录”获取新的链接，并选择你给机器人发消息时所在的工作区。',
    },
    way: 'chat',
  },
  'chat-account-unverifiable': {
    status: 403,
    title: {
      en: 'Your chat account could not be verified; nothing was connected',
      zh: '暂时无法核实你的聊天账号，没有绑定任何账号',
    },
    next: {
      en: 'Please tell your administrator that the bot may not read member ids.',
      zh: '请告知管理员：机器人没有读取成员账号的权限。',
    },
    way: 'help',
  },
  'chat-app-failed': {
    status: 502,
    title: {
      en: 'The messaging app did not say whose chat account this is; nothing was connected',
      zh: '办公应用未能确认聊天账号是谁的，没有绑定任何账号',
    },
    next: {
      en: 'Please try again; if it keeps failing, send /signin in the chat in a few minutes.',
      zh: '请重试；如果仍然失败，请几分钟后在聊天中发送“登录”。',
    },
    way: 'chat',
  },
  'service-failed': {
    status: 502,
    title: { en: 'The sign-in service did not answer as it should', zh: '登录服务暂时没有正常响应' },
    next: {
      en: 'Please try again; if it keeps failing, send /signin in the chat in a few minutes.',
      zh: '请重试；如果仍然失败，请几分钟后在聊天中发送“登录”。',
    },
    way: 'chat',
  },
  'page-expired': {
    status: 403,
    title: { en: 'This page has expired', zh: '此页面已失效' },
    next: { en: 'Open the link in the chat again.', zh: '请在聊天中重新打开链接。' },
    way: 'chat',
  },
  'account-refused': {
    status: 403,
    title: { en: 'This account cannot be used here', zh: '此账号无法在这里使用' },
    next: {
      en: 'Please contact the help desk and give them the reference below.',
      zh: '请联系服务台，并提供下方的编号。',
    },
    way: 'help',
  },
  'linked-elsewhere': {
    status: 409,
    title: { en: 'Another chat account is signed in with this account', zh: '此账号已在另一个聊天账号中登录' },
    next: {
      en: 'First send /unlink to the bot from that chat account, then /signin from this one.',
      zh: '请先用那个聊天账号给机器人发送“解绑”，再用此聊天账号发送“登录”。',
    },
    way: 'chat',
  },
  'chat-linked-elsewhere': {
    status: 409,
    title: { en: 'This chat is signed in with another account', zh: '此聊天已登录另一个账号' },
    next: {
      en: 'First send /unlink to the bot in your private chat, then /signin.',
      zh: '请先在与机器人的私聊中发送“解绑”，再发送“登录”。',
    },
    way: 'chat',
  },
  'too-many-tries': {
    status: 429,
    title: { en: 'Too many tries in a short time', zh: '短时间内尝试次数过多' },
    next: { en: 'Wait a minute, then try again.', zh: '请等待一分钟后重试。' },
    way: 'again',
    retryAfterSec: 60,
  },
  'sign-in-unavailable': {
    status: 503,
    title: { en: 'Sign-in is not available right now', zh: '登录暂时不可用' },
    next: { en: 'Try again in a minute.', zh: '请一分钟后重试。' },
    way: 'again',
    retryAfterSec: 60,
  },
};
