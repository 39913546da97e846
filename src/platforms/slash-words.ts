/** The commands of contract section 7 that this version knows, with their English and Chinese words. */
const WORDS = {
  help: ['/help', '帮助'],
  new: ['/new', '新对话'],
  stop: ['/stop', '停止'],
  retry: ['/retry', '重试'],
  model: ['/model', '模型'],
  think: ['/think', '思考'],
  lang: ['/lang', '语言'],
  usage: ['/usage', '用量'],
  forget: ['/forget', '清除'],
  export: ['/export', '导出'],
  whoami: ['/whoami', '我是谁'],
  signin: ['/signin', '登录'],
  unlink: ['/unlink', '解绑'],
} as const;

export type SlashWord = keyof typeof WORDS;

export interface SlashCommand {
  word: SlashWord;
  /** What follows the word, trimmed; empty when nothing does. */
  argument: string;
}

const BY_SPELLING = new Map<string, SlashWord>(
  (Object.keys(WORDS) as SlashWord[]).flatMap((word) =>
    WORDS[word].flatMap((spelling) => [[spelling.replace(/^\//, ''), word] as const]),
  ),
);

/** With these behind it a Chinese word is a command without the slash too; anything else may be a question. */
const ARGUMENTS_WITHOUT_SLASH: Partial<Record<SlashWord, RegExp>> = {
  model: /^[a-z0-9][\w.:/-]*$/i,
  think: /^(?:关|低|高|最大|自动|off|low|high|max|auto)$/i,
  lang: /^(?:中文|英文|自动|en|zh|auto)$/i,
};

/** The spellings of each word, for help texts and the messenger's composer. */
export const SLASH_SPELLINGS: Readonly<Record<SlashWord, readonly string[]>> = WORDS;

/**
 * Reads a slash word from the start of a text: `/stop`, `/停止`, and the Chinese words alone (`停止`) when nothing follows,
 * or what can only be meant for them (`思考 高`).
 * An unknown slash word is an ordinary message. Letters' case and the full-width slash make no difference.
 */
export function readSlashCommand(text: string): SlashCommand | undefined {
  // A voice transcript ends with a full stop.
  const match = /^\s*(?<slash>[/／])?(?<name>\p{L}+)[。.!！]?(?:\s+(?<argument>[\s\S]*))?$/u.exec(text.trimEnd());
  const name = match?.groups?.['name']?.toLowerCase();
  const word = name === undefined ? undefined : BY_SPELLING.get(name);
  if (word === undefined || name === undefined) return undefined;
  const hasSlash = match?.groups?.['slash'] !== undefined;
  const argument = match?.groups?.['argument']?.trim() ?? '';
  if (!hasSlash && !isClearWithoutSlash(word, name, argument)) return undefined;
  return { word, argument };
}

function isClearWithoutSlash(word: SlashWord, name: string, argument: string): boolean {
  if (!/\p{Script=Han}/u.test(name)) return false;
  return argument === '' || ARGUMENTS_WITHOUT_SLASH[word]?.test(argument) === true;
}
