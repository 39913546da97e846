import type { Catalogue } from '../../shared/text/texts.ts';

/** Texts about the thread of a question. */
export const THREAD_TEXTS = {
  unread: {
    en: 'I could not read the earlier messages of this thread, so this answer does not take them into account.',
    zh: '无法读取此消息列中之前的消息，本次回答未参考这些内容。',
  },
  bareUnread: {
    en: 'I could not read the earlier messages of this thread. Please mention me again with your question.',
    zh: '无法读取此消息列中之前的消息。请再次 @ 我并写上你的问题。',
  },
  bareQuestion: { en: 'What do you say to this?', zh: '你怎么看？' },
  cut: {
    en: 'This thread is long: I read {shown} of its messages, the first and the newest ones, and left out {missing}.',
    zh: '此消息列较长：我阅读了其中 {shown} 条消息（第一条和最新的），略过了 {missing} 条。',
  },
  listed: {
    en: 'By the rules of your institution I left out a part of this thread.',
    zh: '按照贵机构的规定，此消息列中有部分内容未被读取。',
  },
  filesRead: {
    en: 'Files from this thread that I used: {files}.',
    zh: '参考了此消息列中的文件：{files}。',
  },
  filesUnread: {
    en: 'Files from this thread that I did not read: {files}.',
    zh: '未读取此消息列中的文件：{files}。',
  },
  file: { en: '“{file}”', zh: '“{file}”' },
  picture: { en: 'a picture', zh: '一张图片' },
  fileFrom: { en: '{file} (from {name})', zh: '{file}（来自 {name}）' },
  moreFiles: { en: '{files} and {more} more', zh: '{files}等，另有 {more} 个' },
  cutUnknown: {
    en: 'This thread is long: I read {shown} of its messages, the first and the newest ones.',
    zh: '此消息列较长：我阅读了其中 {shown} 条消息（第一条和最新的）。',
  },
} as const satisfies Catalogue<string>;
