import type { Catalogue } from '../shared/text/texts.ts';

/** The messaging app's own texts. */
export const MESSENGER_TEXTS = {
  waitForAnswers: {
    en: 'Please wait for the current answers: the bot takes at most three questions at a time.',
    zh: '请等待当前回答完成：机器人最多同时处理三个问题。',
  },
  botUnreachable: { en: 'The bot could not be reached.', zh: '无法连接机器人。' },
  botRefused: { en: 'The bot did not accept the message.', zh: '机器人没有接收这条消息。' },
  noCommand: {
    en: '“{name}” is not a command here. Slack treats everything that starts with “/” as a command: send the word without “/”, or after “/parley”.',
    zh: '这里没有“{name}”这个命令。Slack 会把以“/”开头的内容都当作命令：请去掉斜杠直接发送，或在前面加上“/parley”。',
  },
  answerRefused: {
    en: 'The platform refused the bot’s answer: {reason}.',
    zh: '办公应用拒绝了机器人的回答：{reason}。',
  },
  answerUnfinished: {
    en: 'The bot did not finish its answer in time. Please ask again.',
    zh: '机器人未能在规定时间内完成回答，请重新提问。',
  },
  notFound: { en: 'This page does not exist.', zh: '页面不存在。' },
  openInApp: {
    en: 'This page works only inside the messaging app. Open the link there.',
    zh: '请在企业微信客户端中打开此链接。',
  },
  openInMessenger: {
    en: 'You are not signed in to Slack in this browser. Open the link in the messenger with the chat.',
    zh: '此浏览器没有登录 Slack。请在显示聊天的办公应用中打开链接。',
  },
  mayKnow: { en: 'Let {bot} know who you are in Slack?', zh: '允许 {bot} 获取你的 Slack 身份吗？' },
  mayKnowText: {
    en: 'You are signed in to Slack as {person}. {bot} will see only your Slack user and workspace.',
    zh: '当前登录的 Slack 账号是 {person}。{bot} 只会获取你的 Slack 用户和工作区。',
  },
  allow: { en: 'Allow', zh: '允许' },
  deny: { en: 'Cancel', zh: '取消' },
  signInRefused: { en: 'The app refused this sign-in ({code}).', zh: '应用拒绝了此次登录（{code}）。' },
  outsideTitle: { en: 'External page', zh: '外部页面' },
  outsideText: {
    en: 'The in-app browser opens only pages of the bot and the sign-in service. To open this page in your own browser, copy its address:',
    zh: '应用内浏览器仅支持机器人和登录服务的页面。请复制地址，在浏览器中打开：',
  },
  awayTitle: { en: 'The page could not be opened', zh: '无法打开页面' },
  awayText: { en: '{host} does not answer. Try again in a moment.', zh: '{host} 没有响应，请稍后重试。' },
  tooManyRedirects: { en: 'The page redirects too often.', zh: '页面重定向次数过多。' },
  tryAgain: { en: 'Try again', zh: '重试' },
  linkLabel: { en: 'Address', zh: '地址' },
} as const satisfies Catalogue<string>;
