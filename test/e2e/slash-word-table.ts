import { readSlashCommand, SLASH_SPELLINGS, type SlashWord } from '../../src/bot/domain/slash-words.ts';

/** What a person reads in one language. */
type Read = string | RegExp;

/** One slash word as somebody types it who is not signed in where that is optional; the first message of their conversation. */
export interface WordRow {
  word: SlashWord;
  /** What is typed behind the word, in each language. */
  argument?: { en: string; zh: string };
  en: Read;
  zh: Read;
  /** In a group: the same as in private, unless told. `private` points to the private chat. */
  group?: 'private' | { en: Read; zh: Read };
}

/** Every slash word of contract section 7; a word without a row fails a test. */
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
  { word: 'new', en: /^A new conversation starts here/, zh: /^新的对话开始了/ },
  { word: 'stop', en: 'There is nothing to stop.', zh: '当前没有正在生成的回答。' },
  { word: 'retry', en: /^There is no question yet/, zh: '还没有可以重试的问题。' },
  {
    word: 'model',
    en: /^These models can answer you here:.*`svc-max`: thinks, with effort low, high, max\n.*`svc-plus`: sees images, thinks \(answers you now\)/s,
    zh: /^在这里可以使用以下模型.*`svc-max`：能思考，强度可选 低、高、最大\n.*`svc-plus`：能看图片，能思考（当前）/s,
  },
  {
    word: 'model',
    argument: { en: 'svc-max', zh: 'svc-max' },
    en: 'From now on `svc-max` answers you in this chat.',
    zh: '从现在起，此聊天中由 `svc-max` 回答你。',
  },
  {
    word: 'model',
    argument: { en: 'max', zh: 'svc-mex' },
    en: 'There is no model “max” for you here. Did you mean `svc-max`? You can choose `svc-max`, `svc-plus`.',
    zh: '你在这里没有可用的模型“svc-mex”，你要的是 `svc-max` 吗？可以选择 `svc-max`、`svc-plus`。',
  },
  {
    word: 'model',
    argument: { en: 'something else', zh: '别的' },
    en: 'There is no model “something else” for you here. You can choose `svc-max`, `svc-plus`.',
    zh: '你在这里没有可用的模型“别的”，可以选择 `svc-max`、`svc-plus`。',
  },
  {
    word: 'model',
    argument: { en: 'auto', zh: '自动' },
    en: /^The usual model, `svc-plus`/,
    zh: /^此聊天中恢复由默认模型 `svc-plus`/,
  },
  { word: 'think', en: /^Automatic: .*`\/?think max`/s, zh: /^当前为自动.*。发送.*`思考 最大`/s },
  {
    word: 'think',
    argument: { en: 'high', zh: '高' },
    en: /^From now on I think before I answer\. \(`svc-plus` has no levels; “high”/,
    zh: /^从现在起，我先思考再回答。（`svc-plus` 不分强度；“高”/,
  },
  {
    word: 'think',
    argument: { en: 'off', zh: '关' },
    en: /^From now on I answer without/,
    zh: /^从现在起，我直接回答/,
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
    en: 'OK, English in this chat.',
    zh: '好的，我会用中文回复。',
  },
  {
    word: 'lang',
    argument: { en: 'fr', zh: '法语' },
    en: /^I speak only English and Chinese so far/,
    zh: /^目前只支持中文和英文/,
  },
  { word: 'lang', argument: { en: 'auto', zh: '自动' }, en: /^Automatic: /, zh: /^自动：/ },
  { word: 'usage', en: /^Today: 0 questions/, zh: /^今天：0 个问题/, group: 'private' },
  {
    word: 'sources',
    en: 'My last answer stands on no document of the institution.',
    zh: '上一条回答没有依据本单位的文档。',
  },
  { word: 'export', en: 'There is nothing to export.', zh: '没有可以导出的内容。', group: 'private' },
  { word: 'forget', en: /^I have deleted what we said in this chat/, zh: /^已删除我们在此聊天中的内容/ },
  { word: 'whoami', en: /^Nobody is signed in here/, zh: /^当前没有登录/, group: 'private' },
  {
    word: 'signin',
    en: /^Please sign in first, it takes a moment: \[Sign in\]\(http/,
    zh: /^请先登录，只需片刻：\[登录\]\(http/,
    group: 'private',
  },
  { word: 'unlink', en: /^Nobody is signed in here, so/, zh: /^当前没有登录，无需解绑/, group: 'private' },
];

const MODELS = { models: ['svc-plus', 'svc-max'] };

/**
 * What is typed for a row: on Slack without the slash where that is read. Where it is not, the slash stands behind a blank, as somebody types
 * it whom Slack has told that it takes what begins with one for a command.
 */
export function typedText({ word, argument }: WordRow, language: 'en' | 'zh', protocol: 'wecom' | 'slack'): string {
  const [english = '', chinese = ''] = SLASH_SPELLINGS[word];
  const slashed = language === 'en' ? english : `/${chinese}`;
  const typed = argument ? `${slashed} ${argument[language]}` : slashed;
  if (protocol === 'wecom') return typed;
  return readSlashCommand(typed.slice(1), MODELS) ? typed.slice(1) : ` ${typed}`;
}
