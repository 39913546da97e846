import type { Catalogue } from '../../shared/text/texts.ts';

type RecordText =
  | 'usage'
  | 'forgotten'
  | 'answersAre'
  | 'exported'
  | 'exportedNewest'
  | 'summary'
  | 'nothingToExport'
  | 'imagesWere'
  | 'reference'
  | 'noReference';

/** Texts about a user's stored data. */
export const RECORD_TEXTS: Catalogue<RecordText> = {
  usage: {
    en: 'Today: {questionsToday} {questionsToday:question|questions}, about {tokensToday} {tokensToday:token|tokens}. This month: {questionsThisMonth} {questionsThisMonth:question|questions}, about {tokensThisMonth} {tokensThisMonth:token|tokens}.',
    zh: '今天：{questionsToday} 个问题，约 {tokensToday} tokens。本月：{questionsThisMonth} 个问题，约 {tokensThisMonth} tokens。',
  },
  forgotten: {
    en: 'I have deleted your questions, my answers, the images and your settings (/model, /think, /lang) in this chat. I cannot delete messages that the chat app still shows.',
    zh: '已删除此聊天中你的问题、我的回答、图片以及你的设置（模型、思考、语言）。聊天窗口中已显示的消息无法删除。',
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
};
