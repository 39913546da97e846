import { both, COUNT, HELLO, NEW, type AbilityRow } from './ability-row.ts';

/** How the built-in model begins whatever it thinks. */
const THOUGHT = /small set of rules, so|一小套规则/;
const SEEN_BY = {
  en: /Answered by svc-plus, the model that can look at images\./,
  zh: /由能看图片的模型 svc-plus 回答。/,
};

/** Thinking, models and images. */
export const MODEL_ROWS: readonly AbilityRow[] = [
  {
    name: 'thinking: shown as the platform shows it, and never in a group or in what is kept',
    steps: [
      { ...HELLO, hides: THOUGHT },
      {
        says: { en: '/think high', zh: '/思考 高' },
        reads: { en: /^From now on I think before I answer/, zh: /^从现在起，我先思考再回答/ },
      },
      {
        ...HELLO,
        apart: {
          wecom: {
            en: /^I am a small set of rules, so this is short\. This is small talk/,
            zh: /^我只是一小套规则，所以想得不多。这是闲聊/,
          },
          slack: { en: /^Thinking, \d+ s$/, zh: /^思考中，\d+ 秒$/ },
        },
      },
      {
        says: { en: '/think high', zh: '/思考 高' },
        in: 'group',
        reads: { en: /^From now on I think before I answer/, zh: /^从现在起，我先思考再回答/ },
      },
      { ...HELLO, in: 'group', hides: THOUGHT },
      {
        says: { en: '/export', zh: '/导出' },
        reads: {
          en: /^Our conversation, 2 questions:.*Hello! I'm Parley/s,
          zh: /^我们的对话，共 2 个问题：.*你好！我是 Parley/s,
        },
        hides: THOUGHT,
      },
      {
        says: { en: '/think off', zh: '/思考 关' },
        reads: { en: /^From now on I answer without/, zh: /^从现在起，我直接回答/ },
      },
      { ...HELLO, hides: THOUGHT },
    ],
  },
  {
    name: 'models: listed, chosen, and a picture is for the one that sees',
    steps: [
      {
        says: { en: '/model', zh: '/模型' },
        reads: {
          en: /`svc-max`: thinks, with effort low, high, max\n.*`svc-plus`: sees images, thinks \(answers you now\)/s,
          zh: /`svc-max`：能思考，强度可选 低、高、最大\n.*`svc-plus`：能看图片，能思考（当前）/s,
        },
      },
      { ...COUNT, model: 'svc-plus' },
      {
        says: { en: '/model svc-max', zh: '/模型 svc-max' },
        reads: { en: /^From now on `svc-max` answers you/, zh: /^从现在起，此聊天中由 `svc-max` 回答你/ },
      },
      { ...COUNT, model: 'svc-max', hides: /svc-/ },
      {
        says: { en: 'What is this?', zh: '这是什么？' },
        pictures: [30],
        reads: { en: /^You sent a PNG image of 30 × 20 pixels/, zh: /^你发来的是一张 PNG 图片，30 × 20 像素/ },
        apart: SEEN_BY,
        model: 'svc-plus',
      },
      // The picture goes along for a while, so that people can ask on about it.
      { ...COUNT, apart: SEEN_BY, model: 'svc-plus' },
    ],
  },
  {
    name: 'images: several, without a word',
    steps: [
      {
        says: { en: '', zh: '' },
        pictures: [31, 32],
        reads: both(/1\. .*PNG.*31 × 20.*2\. .*PNG.*32 × 20/s),
      },
    ],
  },
  {
    name: 'images: of several messages that become one question, in the order in which they were said',
    steps: [
      {
        says: { en: 'Search for otters', zh: '请搜索水獭' },
        doing: { en: 'Searching: otters', zh: '正在搜索：水獭' },
        reads: both(/All about/),
        meanwhile: [
          {
            says: { en: 'This is the left one', zh: '这是左边的' },
            pictures: [33, 34],
            reads: { wecom: { en: '↓ answered below', zh: '↓ 回答在下方' }, slack: both('') },
          },
          {
            says: { en: 'and this the right one', zh: '这是右边的' },
            pictures: [35],
            reads: {
              en: /^You sent 3 images:\n\n1\. .*33 × 20.*\n2\. .*34 × 20.*\n3\. .*35 × 20/,
              zh: /^你发来了 3 张图片：\n\n1\. .*33 × 20.*\n2\. .*34 × 20.*\n3\. .*35 × 20/,
            },
          },
        ],
      },
    ],
  },
  {
    name: 'images: one that cannot be opened is said to be so, and the next one is looked at',
    steps: [
      {
        says: { en: 'What is this?', zh: '这是什么？' },
        pictures: [37, 'damaged'],
        reads: {
          en: 'Image 2 of 2 is damaged: I could not open it. Please send it again, or a screenshot of it.',
          zh: '2 张图片中的第 2 张已损坏，无法打开。请重新发送，或发它的截图。',
        },
      },
      { says: { en: 'And this?', zh: '这个呢？' }, pictures: [38], reads: both(/38 × 20/) },
    ],
  },
  {
    name: 'images: one that is quoted',
    only: 'wecom',
    steps: [
      { says: { en: 'My car', zh: '我的车' }, pictures: [36], reads: both(/36 × 20/) },
      NEW,
      {
        says: { en: 'What is this?', zh: '这是什么？' },
        quotesFirst: true,
        reads: { en: /^You sent a PNG image of 36 × 20/, zh: /^你发来的是一张 PNG 图片，36 × 20/ },
      },
    ],
  },
];
