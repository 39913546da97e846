import type { Catalogue } from '../../shared/text/texts.ts';

type RecordText = 'usage' | 'forgotten' | 'exported' | 'exportedNewest' | 'summary' | 'nothingToExport' | 'imagesWere';

/** What the bot says about what it keeps of a person. */
export const RECORD_TEXTS: Catalogue<RecordText> = {
  usage: {
    en: 'Today: {questionsToday} {questionsToday:question|questions}, about {tokensToday} {tokensToday:token|tokens}. This month: {questionsThisMonth} {questionsThisMonth:question|questions}, about {tokensThisMonth} {tokensThisMonth:token|tokens}.',
    zh: '今天：{questionsToday} 个问题，约 {tokensToday} tokens。本月：{questionsThisMonth} 个问题，约 {tokensThisMonth} tokens。',
  },
  forgotten: {
    en: 'I have deleted what we said in this chat (your questions, my answers and the images) and what you chose here (/model, /think, /lang). What the chat itself still shows I cannot delete.',
    zh: '已删除我们在此聊天中的内容（你的问题、我的回答和图片）以及你在此的选择（模型、思考、语言）。聊天窗口中已显示的消息我无法删除。',
  },
  exported: { en: 'Our conversation, {count} {count:question|questions}:', zh: '我们的对话，共 {count} 个问题：' },
  exportedNewest: {
    en: 'Our conversation, the newest {shown} of {count} {count:question|questions}:',
    zh: '我们的对话，共 {count} 个问题，以下是最近 {shown} 个：',
  },
  summary: {
    en: '**My summary of what was said before; I read it with each question:**',
    zh: '**我对更早内容的摘要，每次提问时我都会读到：**',
  },
  nothingToExport: { en: 'There is nothing to export.', zh: '没有可以导出的内容。' },
  imagesWere: { en: '[images: {count}]', zh: '[图片：{count}]' },
};
