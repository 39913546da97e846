/** Slash commands of this version, with their English and Chinese spellings. */
const COMMAND_SPELLINGS = {
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
  ref: ['/ref', '编号'],
  whoami: ['/whoami', '我是谁'],
  signin: ['/signin', '登录'],
  unlink: ['/unlink', '解绑'],
} as const;

export type SlashCommandName = keyof typeof COMMAND_SPELLINGS;

export interface SlashCommand {
  word: SlashCommandName;
  /** Text after the command, trimmed; may be empty. */
  argument: string;
}

const BY_SPELLING = new Map<string, SlashCommandName>(
  (Object.keys(COMMAND_SPELLINGS) as SlashCommandName[]).flatMap((word) =>
    COMMAND_SPELLINGS[word].flatMap((spelling) => [[spelling.replace(/^\//, ''), word] as const]),
  ),
);

/** Arguments with which a Chinese command works without the slash. With any other text the message may be a question. */
const CHINESE_ARGUMENTS: Partial<Record<SlashCommandName, RegExp>> = {
  model: /^(?:自动|默认|[a-z0-9][\w.:/-]*)$/i,
  think: /^(?:关|低|高|最大|自动|默认|off|low|high|max|auto|default)$/i,
  lang: /^(?:中文|汉语|简体中文|英文|英语|自动|默认|en|english|zh|zh-cn|cn|chinese|auto|default)$/i,
};

/**
 * The same for an English command without the slash: only arguments that do not occur in questions. Model names are checked
 * separately.
 */
const ENGLISH_ARGUMENTS: Partial<Record<SlashCommandName, RegExp>> = {
  model: /^(?:auto|default)$/i,
  think: /^(?:off|low|high|max|auto|default)$/i,
  lang: /^(?:en|zh|english|chinese|auto|default)$/i,
};

/** For apps that reserve messages with a leading slash: English commands work without the slash too. */
export interface BareEnglish {
  /** The deployment's model names. */
  models: readonly string[];
}

/** Spellings of each command, for help texts and the messenger's composer. */
export const SLASH_SPELLINGS: Readonly<Record<SlashCommandName, readonly string[]>> = COMMAND_SPELLINGS;

/**
 * Reads a slash command from the start of a text: `/stop`, `/停止`, and a Chinese command alone (`停止`) or with an unambiguous
 * argument (`思考 高`). With `bare`, English commands work in the same way: `stop` alone, `think high`; "help me write a
 * letter" is a question. An unknown command is an ordinary message. Case and the full-width slash make no difference.
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

const MAX_WORD_CHARS = 24;

/** The word after a slash at the start of a text that is no command, as typed. Such a message is an ordinary question. */
export function unknownSlashWord(text: string): string | undefined {
  const [, word] = /^\s*[/／](\p{L}+)(?=\s|$)/u.exec(text) ?? [];
  return word === undefined || word.length > MAX_WORD_CHARS || BY_SPELLING.has(word.toLowerCase()) ? undefined : word;
}

/**
 * Reads the text after the app's own command (`/parley help`). A command that takes a choice accepts any single argument,
 * because the person clearly typed a command; a wrong one gets the list of choices.
 */
export function readOwnCommand(text: string, bare: BareEnglish): SlashCommand | undefined {
  const read = readSlashCommand(text, bare);
  if (read) return read;
  const chosen = readSlashCommand(`/${text.trim()}`);
  return chosen && ENGLISH_ARGUMENTS[chosen.word] && !/\s/.test(chosen.argument) ? chosen : undefined;
}

function isClearInEnglish(word: SlashCommandName, argument: string, { models }: BareEnglish): boolean {
  if (argument === '') return true;
  const plain = argument.replace(/[.!]$/, '').toLowerCase();
  if (ENGLISH_ARGUMENTS[word]?.test(plain) === true) return true;
  return (
    word === 'model' &&
    models.some((name) => name.toLowerCase() === plain || name.toLowerCase() === argument.toLowerCase())
  );
}
