import { both, COUNT, HELLO, NEW, type AbilityRow } from './ability-row.ts';

/** The beginning of every thought of the built-in model. */
const THOUGHT = /small set of rules, so|一小套规则/;
const SEEN_BY = {
  en: /Answered by svc-plus, which can read images\./,
  zh: /由支持图片的模型 svc-plus 回答。/,
};

/** Thinking, models and images. */
export const MODEL_ROWS: readonly AbilityRow[] = [
  {
    name: 'thinking: shown where the platform has a place for it, never in a group or in an export',
    steps: [
      { ...HELLO, hides: THOUGHT },
      {
        says: { en: '/think high', zh: '/思考 高' },
        reads: { en: /^I will now think before I answer/, zh: /^已开启思考/ },
      },
      {
        ...HELLO,
        apart: {
          wecom: {
            en: /^I am a small set of rules, so my reasoning is short\. This is small talk/,
            zh: /^我只有一些规则，所以思考很简短。这是闲聊/,
          },
          slack: { en: /^Thinking, \d+ s$/, zh: /^思考中，\d+ 秒$/ },
        },
      },
      {
        says: { en: '/think high', zh: '/思考 高' },
        in: 'group',
        reads: { en: /^I will now think before I answer/, zh: /^已开启思考/ },
      },
      { ...HELLO, in: 'group', hides: THOUGHT },
      {
        says: { en: '/export', zh: '/导出' },
        reads: {
          en: /^Our conversation, 3 questions:.*Hello! I'm Parley/s,
          zh: /^我们的对话，共 3 个问题：.*你好！我是 Parley/s,
        },
        hides: THOUGHT,
      },
      {
        says: { en: '/think off', zh: '/思考 关' },
        reads: { en: /^I will now answer without/, zh: /^已关闭思考/ },
      },
      { ...HELLO, hides: THOUGHT },
    ],
  },
  {
    name: 'models: list and choice, and fallback to the model that can read images',
    steps: [
      {
        says: { en: '/model', zh: '/模型' },
        reads: {
          en: /`svc-max`: reasoning effort low, high, max\n.*`svc-plus`: reads images, reasoning \(selected\)/s,
          zh: /`svc-max`：支持思考，强度可选 低、高、最大\n.*`svc-plus`：支持图片，支持思考（当前）/s,
        },
      },
      { ...COUNT, model: 'svc-plus' },
      {
        says: { en: '/model svc-max', zh: '/模型 svc-max' },
        reads: { en: /^`svc-max` now answers you/, zh: /^此聊天现由 `svc-max` 回答你/ },
      },
      { ...COUNT, model: 'svc-max', hides: /svc-/ },
      {
        says: { en: 'What is this?', zh: '这是什么？' },
        pictures: [30],
        reads: { en: /^You sent a PNG image of 30 × 20 pixels/, zh: /^你发来的是一张 PNG 图片，30 × 20 像素/ },
        apart: SEEN_BY,
        model: 'svc-plus',
      },
      // The image stays in the prompt for some turns, so that people can ask follow-up questions about it.
      { ...COUNT, apart: SEEN_BY, model: 'svc-plus' },
    ],
  },
  {
    name: 'images: several without text',
    steps: [
      {
        says: { en: '', zh: '' },
        pictures: [31, 32],
        reads: both(/1\. .*PNG.*31 × 20.*2\. .*PNG.*32 × 20/s),
      },
    ],
  },
  {
    name: 'images: several messages merged into one question, in the order in which they were sent',
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
    name: 'images: error for a damaged image, and a normal answer about the next image',
    steps: [
      {
        says: { en: 'What is this?', zh: '这是什么？' },
        pictures: [37, 'damaged'],
        reads: {
          en: 'Image 2 of 2 is damaged and could not be opened. Please send it again, or send a screenshot.',
          zh: '第 2 张图片（共 2 张）已损坏，无法打开。请重新发送，或发送截图。',
        },
      },
      { says: { en: 'And this?', zh: '这个呢？' }, pictures: [38], reads: both(/38 × 20/) },
    ],
  },
  {
    name: 'images: quoted image',
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
