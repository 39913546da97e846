import type { Catalogue } from '../../shared/text/texts.ts';

/** Labels of the buttons below an answer. */
export const OFFER_TEXTS = {
  heading: { en: 'This answer', zh: '这个回答' },
  stop: { en: 'Stop', zh: '停止' },
  retry: { en: 'Try again', zh: '重试' },
  good: { en: 'Good answer', zh: '有帮助' },
  bad: { en: 'Bad answer', zh: '没有帮助' },
} as const satisfies Catalogue<string>;

/** Shown only to the user whose button press had no effect. */
export const PRESS_TEXTS = {
  notYours: {
    en: 'Only the person who asked can retry this answer.',
    zh: '仅提问者本人可以重试。',
  },
  askedAgain: { en: 'This question is already being answered again.', zh: '正在重新回答这个问题。' },
  nothingStopped: {
    en: 'You have no answer in progress here.',
    zh: '你在这里没有正在生成的回答。',
  },
} as const satisfies Catalogue<string>;

/** Reasons for negative feedback. */
export const REASON_TEXTS = {
  why: { en: 'What is wrong with it?', zh: '这个回答有什么问题？' },
  irrelevant: { en: 'Not what I asked', zh: '答非所问' },
  incomplete: { en: 'Incomplete', zh: '不完整' },
  wrong: { en: 'Wrong', zh: '有错误' },
  'wrong-data': { en: 'Wrong figures', zh: '数据有误' },
  thanks: { en: 'Thank you for your feedback.', zh: '感谢你的反馈。' },
} as const satisfies Catalogue<string>;
