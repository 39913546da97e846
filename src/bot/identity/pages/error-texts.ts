import type { Bilingual } from '../../../shared/text/texts.ts';

interface ErrorText {
  status: number;
  /** One sentence: what happened. */
  title: Bilingual;
  /** One sentence: what to do. */
  next: Bilingual;
  /**
   * Where the next step leads: to the chat (in words, because apps have no address for it), to the help desk, or to the same
   * page again.
   */
  way: 'chat' | 'help' | 'again';
  retryAfterSec?: number;
}

const NEW_LINK: Bilingual = {
  en: 'Go back to the chat and send /signin to get a new link.',
  zh: '请返回聊天，发送“登录”获取新的链接。',
};

const TEXTS = {
  'link-used-up': {
    status: 410,
    title: { en: 'This link can no longer be used', zh: '此链接已无法使用' },
    next: NEW_LINK,
    way: 'chat',
  },
  'sign-in-broken-off': {
    status: 400,
    title: { en: 'This sign-in could not be completed', zh: '本次登录未能完成' },
    next: {
      en: 'Send /signin in the chat to get a new link. If it happens again, stay in one browser and allow cookies.',
      zh: '请在聊天中发送“登录”获取新的链接。如果仍然失败，请在同一个浏览器中完成登录，并允许 Cookie。',
    },
    way: 'chat',
  },
  'other-chat-account': {
    status: 403,
    title: {
      en: 'This sign-in belongs to a different chat account; no account was connected',
      zh: '此次登录属于另一个聊天账号，未绑定任何账号',
    },
    next: {
      en: 'To sign in yourself, message the bot from your own account and use the link that it sends you.',
      zh: '如需登录自己的账号，请用自己的账号给机器人发消息，并打开它发给你的链接。',
    },
    way: 'chat',
  },
  'other-organisation': {
    status: 403,
    title: {
      en: 'This sign-in belongs to another organisation’s workspace; no account was connected',
      zh: '此次登录属于其他组织的工作区，未绑定任何账号',
    },
    next: {
      en: 'Send /signin from your own account to get a new link, and choose the workspace from which you messaged the bot.',
      zh: '请用自己的账号发送“登录”获取新的链接，并选择你给机器人发消息时所在的工作区。',
    },
    way: 'chat',
  },
  'chat-account-unverifiable': {
    status: 403,
    title: {
      en: 'Your chat account could not be verified; no account was connected',
      zh: '无法核实你的聊天账号，未绑定任何账号',
    },
    next: {
      en: 'Please tell your administrator that the bot lacks permission to read member ids.',
      zh: '请告知管理员：机器人没有读取成员账号的权限。',
    },
    way: 'help',
  },
  'chat-app-failed': {
    status: 502,
    title: {
      en: 'The messaging app did not confirm your chat account; no account was connected',
      zh: '办公应用未能确认你的聊天账号，未绑定任何账号',
    },
    next: {
      en: 'Please try again. If it keeps failing, send /signin in the chat in a few minutes.',
      zh: '请重试。如果仍然失败，请几分钟后在聊天中发送“登录”。',
    },
    way: 'chat',
  },
  'service-failed': {
    status: 502,
    title: { en: 'The sign-in service is not responding correctly', zh: '登录服务暂时无法正常响应' },
    next: {
      en: 'Please try again. If it keeps failing, send /signin in the chat in a few minutes.',
      zh: '请重试。如果仍然失败，请几分钟后在聊天中发送“登录”。',
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
      en: 'Please contact the help desk and quote the reference below.',
      zh: '请联系服务台，并提供下方的参考编号。',
    },
    way: 'help',
  },
  'linked-elsewhere': {
    status: 409,
    title: { en: 'This account is already connected to another chat account', zh: '此账号已绑定另一个聊天账号' },
    next: {
      en: 'Send /unlink to the bot from that chat account first, then /signin from this one.',
      zh: '请先用那个聊天账号给机器人发送“解绑”，再用此聊天账号发送“登录”。',
    },
    way: 'chat',
  },
  'chat-linked-elsewhere': {
    status: 409,
    title: { en: 'This chat account is already connected to another account', zh: '此聊天账号已绑定另一个账号' },
    next: {
      en: 'Send /unlink to the bot in your private chat first, then /signin.',
      zh: '请先在与机器人的私聊中发送“解绑”，再发送“登录”。',
    },
    way: 'chat',
  },
  'too-many-tries': {
    status: 429,
    title: { en: 'Too many attempts', zh: '尝试次数过多' },
    next: { en: 'Please wait a minute and try again.', zh: '请一分钟后重试。' },
    way: 'again',
    retryAfterSec: 60,
  },
  'sign-in-unavailable': {
    status: 503,
    title: { en: 'Sign-in is currently unavailable', zh: '登录暂时不可用' },
    next: { en: 'Please try again in a minute.', zh: '请一分钟后重试。' },
    way: 'again',
    retryAfterSec: 60,
  },
} satisfies Readonly<Record<string, ErrorText>>;

/** The error pages of SECURITY.md page-headers. Two have a variant with another next step. */
export type ErrorPage = keyof typeof TEXTS;

/** Status and texts of each error page. */
export const ERROR_TEXTS: Readonly<Record<ErrorPage, ErrorText>> = TEXTS;
