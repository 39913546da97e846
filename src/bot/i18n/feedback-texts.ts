import type { Catalogue } from '../../shared/text/texts.ts';

/** Words on what may be pressed at an answer. */
export const OFFER_TEXTS: Catalogue<'heading' | 'stop' | 'retry' | 'good' | 'bad'> = {
  heading: { en: 'This answer', zh: '这个回答' },
  stop: { en: 'Stop', zh: '停止' },
  retry: { en: 'Try again', zh: '重试' },
  good: { en: 'Good answer', zh: '回答得好' },
  bad: { en: 'Bad answer', zh: '回答不好' },
};

/** What somebody sees alone who pressed one of them, and nothing came of it. */
export const PRESS_TEXTS: Catalogue<'notYours' | 'askedAgain' | 'nothingStopped'> = {
  notYours: {
    en: 'Only whoever asked this can have it answered again.',
    zh: '只有提问者本人可以重新提问。',
  },
  askedAgain: { en: 'This has been asked again already.', zh: '这个问题已经在重新回答了。' },
  nothingStopped: {
    en: 'There is nothing of yours to stop here any more.',
    zh: '这里没有可以停止的、属于你的回答。',
  },
};

/** Why an answer is no good. */
export const REASON_TEXTS: Catalogue<'why' | 'thanks' | 'irrelevant' | 'incomplete' | 'wrong' | 'wrong-data'> = {
  why: { en: 'What is wrong with it?', zh: '这个回答有什么问题？' },
  irrelevant: { en: 'Not what I asked', zh: '答非所问' },
  incomplete: { en: 'Incomplete', zh: '不完整' },
  wrong: { en: 'Wrong', zh: '有错误' },
  'wrong-data': { en: 'Wrong figures', zh: '数据有误' },
  thanks: { en: 'Thank you, this is noted.', zh: '谢谢，已记录。' },
};
