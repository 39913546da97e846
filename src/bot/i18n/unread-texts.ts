import type { Catalogue } from '../../shared/text/texts.ts';

/** Kinds of unreadable content, for the sentences below. */
export const UNREAD_KINDS = {
  voice: { en: 'a voice message without a transcript', zh: '没有转成文字的语音消息' },
  video: { en: 'videos', zh: '视频' },
  location: { en: 'a location without a name', zh: '没有地点名称的位置消息' },
  link: { en: 'this link card', zh: '这条链接消息' },
  record: { en: 'these forwarded messages', zh: '转发的聊天记录' },
  card: { en: 'contact cards', zh: '名片' },
  program: { en: 'mini programs', zh: '小程序' },
  sticker: { en: 'stickers', zh: '表情' },
  canvas: { en: '{file}, a document of the chat app itself', zh: '办公应用自带的文档{file}' },
  elsewhere: { en: '{file}, which is stored outside this chat', zh: '存放在其他位置的{file}' },
  withheld: { en: '{file}, which the chat app did not provide', zh: '办公应用未提供的{file}' },
  other: { en: 'this kind of message', zh: '这类消息' },
} as const satisfies Catalogue<string>;

/** Texts about content that the bot cannot read. */
export const UNREAD_TEXTS = {
  alone: {
    en: 'I cannot read {what}. I can read text, images and documents only; please send your question as text.',
    zh: '我无法读取{what}。我只能阅读文字、图片和文档，请用文字提问。',
  },
  beside: {
    en: 'I could not read {what}, so this answer does not take it into account.',
    zh: '我无法读取{what}，本次回答未参考其内容。',
  },
  uploadInstead: {
    en: 'I cannot read {what}. Please upload the file itself or paste its text; I can read text, images and documents.',
    zh: '我无法读取{what}。请直接上传文件，或粘贴其中的文字；我能阅读文字、图片和文档。',
  },
} as const satisfies Catalogue<string>;
