import type { Catalogue } from '../../shared/text/texts.ts';

/** Texts about a user's stored data. */
export const RECORD_TEXTS = {
  usage: {
    en: 'Today: {questionsToday} {questionsToday:question|questions}, about {tokensToday} {tokensToday:token|tokens}. This month: {questionsThisMonth} {questionsThisMonth:question|questions}, about {tokensThisMonth} {tokensThisMonth:token|tokens}.',
    zh: '今天：{questionsToday} 个问题，约 {tokensToday} tokens。本月：{questionsThisMonth} 个问题，约 {tokensThisMonth} tokens。',
  },
  forgotten: {
    en: 'I have deleted your questions, my answers, the images and your settings (/model, /think, /lang) in this chat. I cannot delete messages that the chat app still shows.',
    zh: '已删除此聊天中你的问题、我的回答、图片以及你的设置（模型、思考、语言）。聊天窗口中已显示的消息无法删除。',
  },
  onHold: {
    en: 'I cannot delete your data in this chat: the institution has ordered that it must be kept. Please contact the institution.',
    zh: '无法删除你在此聊天中的数据：机构要求保留这些数据。如有疑问，请联系所在机构。',
  },
  exported: { en: 'Our conversation, {count} {count:question|questions}:', zh: '我们的对话，共 {count} 个问题：' },
  exportedNewest: {
    en: 'Our conversation, the latest {shown} of {count} {count:question|questions}:',
    zh: '我们的对话，共 {count} 个问题，以下为最近 {shown} 个：',
  },
  answersAre: { en: 'Answers: {mark}.', zh: '回答：{mark}。' },
  summary: {
    en: '**Summary of our earlier conversation, which I read with each question:**',
    zh: '**更早对话的摘要，每次提问时都会参考：**',
  },
  nothingToExport: { en: 'There is nothing to export.', zh: '没有可导出的内容。' },
  reference: {
    en: 'Reference of your last question ({time}): {reference}. An administrator can look it up for a day.',
    zh: '你上一个问题（{time}）的编号：{reference}。一天之内，管理员可据此查询。',
  },
  noReference: { en: 'You have not asked a question here yet.', zh: '你在这里还没有提过问题。' },
  imagesWere: { en: '[images: {count}]', zh: '[图片：{count}]' },
  filesWere: { en: '[files: {names}]', zh: '[文件：{names}]' },
  inGroup: { en: 'in a group', zh: '群聊' },
  storedBesides: { en: '**Also stored about you:**', zh: '**此外还保存了：**' },
  accountIs: {
    en: '- Account: {name}, {id}, department: {department}; connected on {date}',
    zh: '- 账号：{name}，{id}，部门：{department}；绑定于 {date}',
  },
  settingsAre: {
    en: '- Settings in {count} {count:chat|chats}: {settings}',
    zh: '- {count} 个聊天中的设置：{settings}',
  },
  setting: { en: '{name} {value}', zh: '{name} {value}' },
  usageOf: {
    en: '- Usage in {month}: {questions} {questions:question|questions}, about {tokens} {tokens:token|tokens}',
    zh: '- {month} 用量：{questions} 个问题，约 {tokens} tokens',
  },
  unansweredAre: {
    en: '- Questions counted as not answered helpfully: {count}',
    zh: '- 记为未得到解答的问题：{count} 个',
  },
  ratingsAre: { en: '- Your rating of {date}: {verdict}', zh: '- {date} 的评价：{verdict}' },
  good: { en: 'good', zh: '好评' },
  bad: { en: 'bad', zh: '差评' },
  auditIs: {
    en: '- The institution keeps a record of sign-ins and of when questions were asked, without their text.',
    zh: '- 机构会记录登录和提问的时间，不含正文。',
  },
} as const satisfies Catalogue<string>;
