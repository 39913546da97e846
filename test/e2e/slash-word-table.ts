import { readSlashCommand, SLASH_SPELLINGS, type SlashCommandName } from '../../src/bot/domain/slash-words.ts';

/** The expected text in one language. */
type Read = string | RegExp;

/** One slash word as the first message of a conversation, sent without a sign-in where that is optional. */
export interface WordRow {
  word: SlashCommandName;
  /** The text after the word, in each language. */
  argument?: { en: string; zh: string };
  en: Read;
  zh: Read;
  /** The expected text in a group. Defaults to the private one. `private` is a pointer to the private chat. */
  group?: 'private' | { en: Read; zh: Read };
}

/** All slash words; a word without a row fails a test. */
export const WORD_ROWS: readonly WordRow[] = [
  {
    word: 'help',
    en: /^Ask me anything.*`\/?new`.*`\/?whoami`/s,
    zh: /^有问题直接问我.*`新对话`.*`我是谁`/s,
    group: {
      en: /^Mention me with a question(?!.*whoami).*`\/?new`/s,
      zh: /^在群里 @ 我(?!.*我是谁).*`新对话`/s,
    },
  },
  { word: 'new', en: /^This is a new conversation/, zh: /^已开始新的对话/ },
  { word: 'stop', en: 'There is nothing to stop.', zh: '当前没有正在生成的回答。' },
  { word: 'retry', en: /^There is no question to retry yet/, zh: '还没有可以重试的问题。' },
  {
    word: 'model',
    en: /^Available models:.*`svc-max`: reasoning effort low, high, max\n.*`svc-plus`: reads images, reasoning \(selected\)/s,
    zh: /^可用的模型.*`svc-max`：支持思考，强度可选 低、高、最大\n.*`svc-plus`：支持图片，支持思考（当前）/s,
  },
  {
    word: 'model',
    argument: { en: 'svc-max', zh: 'svc-max' },
    en: '`svc-max` now answers you in this chat.',
    zh: '此聊天现由 `svc-max` 回答你。',
  },
  {
    word: 'model',
    argument: { en: 'max', zh: 'svc-mex' },
    en: 'The model “max” is not available to you here. Did you mean `svc-max`? Available: `svc-max`, `svc-plus`.',
    zh: '模型“svc-mex”不可用，你要选的是 `svc-max` 吗？可选 `svc-max`、`svc-plus`。',
  },
  {
    word: 'model',
    argument: { en: 'something else', zh: '别的' },
    en: 'The model “something else” is not available to you here. Available: `svc-max`, `svc-plus`.',
    zh: '模型“别的”不可用，可选 `svc-max`、`svc-plus`。',
  },
  {
    word: 'model',
    argument: { en: 'auto', zh: '自动' },
    en: /^The default model, `svc-plus`/,
    zh: /^此聊天已恢复使用默认模型 `svc-plus`/,
  },
  { word: 'think', en: /^Reasoning effort: automatic\..*`\/?think max`/s, zh: /^思考强度为自动.*。发送.*`思考 最大`/s },
  {
    word: 'think',
    argument: { en: 'high', zh: '高' },
    en: /^I will now think before I answer\. \(`svc-plus` has no effort levels; “high”/,
    zh: /^已开启思考。（`svc-plus` 不分强度；“高”/,
  },
  {
    word: 'think',
    argument: { en: 'off', zh: '关' },
    en: /^I will now answer without/,
    zh: /^已关闭思考/,
  },
  {
    word: 'think',
    argument: { en: 'harder', zh: '努力' },
    en: /^There is no level “harder”/,
    zh: /^没有“努力”这一档/,
  },
  {
    word: 'lang',
    en: /^Automatic: I answer in the language.*`\/?lang zh`/s,
    zh: /^自动：你用什么语言提问.*。发送 .*`语言 英文`/s,
  },
  {
    word: 'lang',
    argument: { en: 'en', zh: '中文' },
    en: 'OK, I will reply in English in this chat.',
    zh: '好的，我会用中文回复。',
  },
  {
    word: 'lang',
    argument: { en: 'fr', zh: '法语' },
    en: /^Only English and Chinese are supported/,
    zh: /^目前只支持中文和英文/,
  },
  { word: 'lang', argument: { en: 'auto', zh: '自动' }, en: /^Automatic: /, zh: /^自动：/ },
  { word: 'usage', en: /^Today: 0 questions/, zh: /^今天：0 个问题/, group: 'private' },
  {
    word: 'sources',
    en: 'My last answer is not based on any of the institution’s documents.',
    zh: '上一条回答未使用本单位的文档。',
  },
  { word: 'ref', en: 'You have not asked a question here yet.', zh: '你在这里还没有提过问题。' },
  { word: 'export', en: 'There is nothing to export.', zh: '没有可导出的内容。', group: 'private' },
  { word: 'forget', en: /^I have deleted your questions/, zh: /^已删除此聊天中你的问题/ },
  { word: 'whoami', en: /^You are not signed in/, zh: /^你尚未登录/, group: 'private' },
  {
    word: 'signin',
    en: /^Please sign in first: \[Sign in\]\(http/,
    zh: /^请先登录：\[登录\]\(http/,
    group: 'private',
  },
  { word: 'unlink', en: /^You are not signed in, so/, zh: /^你尚未登录，无需解绑/, group: 'private' },
];

const MODELS = { models: ['svc-plus', 'svc-max'] };

/**
 * Returns the text to type for a row: on Slack without the slash where that works, otherwise with a space before the slash,
 * since Slack treats a leading slash as its own command.
 */
export function typedText({ word, argument }: WordRow, language: 'en' | 'zh', protocol: 'wecom' | 'slack'): string {
  const [english = '', chinese = ''] = SLASH_SPELLINGS[word];
  const slashed = language === 'en' ? english : `/${chinese}`;
  const typed = argument ? `${slashed} ${argument[language]}` : slashed;
  if (protocol === 'wecom') return typed;
  return readSlashCommand(typed.slice(1), MODELS) ? typed.slice(1) : ` ${typed}`;
}
