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
  sources: ['/sources', '来源'],
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
const CHINESE_ARGUMENTS: Partial<Record<SlashWord, RegExp>> = {
  model: /^[a-z0-9][\w.:/-]*$/i,
  think: /^(?:关|低|高|最大|自动|off|low|high|max|auto)$/i,
  lang: /^(?:中文|英文|自动|en|zh|auto)$/i,
};

/** The same for a bare English word: it takes only what nobody asks with. A model's name is known, or `auto`. */
const ENGLISH_ARGUMENTS: Partial<Record<SlashWord, RegExp>> = {
  model: /^(?:auto|default)$/i,
  think: /^(?:off|low|high|max|auto|default)$/i,
  lang: /^(?:en|zh|english|chinese|auto|default)$/i,
};

/** Where the app keeps what begins with a slash for itself, English words count without it as well. */
export interface BareEnglish {
  /** The models of this deployment, by the names that people choose. */
  models: readonly string[];
}

/** The spellings of each word, for help texts and the messenger's composer. */
export const SLASH_SPELLINGS: Readonly<Record<SlashWord, readonly string[]>> = WORDS;

/**
 * Reads a slash word from the start of a text: `/stop`, `/停止`, and the Chinese words alone (`停止`) when nothing follows,
 * or what can only be meant for them (`思考 高`). With `bare` the English words are read in the same way: `stop` alone, `think high`;
 * "help me write a letter" is a question.
 * An unknown slash word is an ordinary message. Letters' case and the full-width slash make no difference.
 */
export function readSlashCommand(text: string, bare?: BareEnglish): SlashCommand | undefined {
  // A voice transcript ends with a full stop.
  const match = /^\s*(?<slash>[/／])?(?<name>\p{L}+)[。.!！]?(?:\s(?<argument>[\s\S]*))?$/u.exec(text.trimEnd());
  const name = match?.groups?.['name']?.toLowerCase();
  const word = name === undefined ? undefined : BY_SPELLING.get(name);
  if (word === undefined || name === undefined) return undefined;
  const argument = match?.groups?.['argument']?.trim() ?? '';
  if (match?.groups?.['slash'] !== undefined) return { word, argument };
  const isClear = /\p{Script=Han}/u.test(name)
    ? argument === '' || CHINESE_ARGUMENTS[word]?.test(argument) === true
    : bare !== undefined && isClearInEnglish(word, argument, bare);
  return isClear ? { word, argument } : undefined;
}

/**
 * Reads what stands behind the app's own command (`/parley help`): a word, and for those that choose something any one argument, since
 * whoever types a command means one; a wrong one is told what there is.
 */
export function readOwnCommand(text: string, bare: BareEnglish): SlashCommand | undefined {
  const read = readSlashCommand(text, bare);
  if (read) return read;
  const chosen = readSlashCommand(`/${text.trim()}`);
  return chosen && ENGLISH_ARGUMENTS[chosen.word] && !/\s/.test(chosen.argument) ? chosen : undefined;
}

function isClearInEnglish(word: SlashWord, argument: string, { models }: BareEnglish): boolean {
  if (argument === '') return true;
  const plain = argument.replace(/[.!]$/, '').toLowerCase();
  if (ENGLISH_ARGUMENTS[word]?.test(plain) === true) return true;
  return (
    word === 'model' &&
    models.some((name) => name.toLowerCase() === plain || name.toLowerCase() === argument.toLowerCase())
  );
}
