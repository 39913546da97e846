import type { Language } from '../../shared/text/texts.ts';
import type { Bootstrap, ConversationView } from '../api.ts';

/** One line of the composer's list. */
export interface CompletionOption {
  /** Replaces what was typed. */
  insert: string;
  label: string;
  /** One line beside the label: a department, or what a slash word does. */
  detail: string;
  isBot?: boolean;
}

/** The list that is open for what stands before the caret. */
export interface Completion {
  kind: 'mention' | 'command';
  /** Where the typed part begins; it ends at the caret. */
  fromChar: number;
  options: CompletionOption[];
  /** A slash word that there is not. Then there are no options. */
  unknown?: string;
}

/** What can be completed in the open conversation. */
export interface CompletionSource {
  kind: ConversationView['kind'];
  botName: string;
  botLabel: string;
  /** The members that can be mentioned, without the writer. */
  members: ConversationView['members'];
  slashWords: Bootstrap['slashWords'];
  otherSpellings?: Bootstrap['otherSpellings'];
  /** Whether what begins with a slash is the platform's own (Slack): then the words are written without it. */
  isSlashTaken: boolean;
  language: Language;
}

/** What can stand before an `@` that begins a mention: not a letter or digit of an address such as `a@b`. */
const MENTION_BEGIN = /(?<![\p{Script=Latin}\p{N}._-])@(?<typed>[\p{L}\p{N}_.-]*)$/u;
const COMMAND_BEGIN = /^[/／](?<typed>\p{L}*)$/u;

/** The list for a text and a caret, or undefined when nothing can be completed or all of it is typed already. */
export function completionAt(text: string, caret: number, source: CompletionSource): Completion | undefined {
  const before = text.slice(0, caret);
  return commandCompletion(before, source) ?? (source.kind === 'group' ? mentionCompletion(before, source) : undefined);
}

/** The text with the option in place of what was typed, and where the caret is then. */
export function applyCompletion(
  text: string,
  caret: number,
  completion: Completion,
  option: CompletionOption,
): { text: string; caret: number } {
  const head = text.slice(0, completion.fromChar) + option.insert;
  return { text: head + text.slice(caret), caret: head.length };
}

function commandCompletion(before: string, source: CompletionSource): Completion | undefined {
  const mention = `@${source.botName}`;
  const isMentioned = before.toLocaleLowerCase().startsWith(mention.toLocaleLowerCase());
  const rest = isMentioned ? before.slice(mention.length).trimStart() : before;
  const typed = COMMAND_BEGIN.exec(rest)?.groups?.['typed'];
  if (typed === undefined) return undefined;
  // A group's bot hears only what mentions it, so the mention comes along with the word.
  const prefix = source.kind === 'group' && !isMentioned ? `${mention} ` : '';
  const wanted = `/${typed.toLocaleLowerCase()}`;
  const fromChar = before.length - rest.length;
  const spellingsOf = (word: string) => [word, source.otherSpellings?.[word] ?? word];
  const found = source.slashWords.filter(({ word }) => spellingsOf(word).some((one) => one.startsWith(wanted)));
  const shown = source.isSlashTaken ? (word: string) => word.slice(1) : (word: string) => word;
  const options = found.map(({ word, help }) => ({
    insert: prefix + shown(word),
    label: shown(word),
    detail: help[source.language],
  }));
  if (options.length === 0) return { kind: 'command', fromChar, options, unknown: shown(wanted) };
  const isWhole = found.some(({ word }) => spellingsOf(word).includes(wanted));
  // Where the slash is the platform's own, the whole word is offered too: written so, it would not reach the bot.
  return isWhole && !source.isSlashTaken ? undefined : { kind: 'command', fromChar, options };
}

function mentionCompletion(before: string, source: CompletionSource): Completion | undefined {
  const match = MENTION_BEGIN.exec(before);
  const typed = match?.groups?.['typed']?.toLocaleLowerCase();
  if (match === null || typed === undefined) return undefined;
  const bot = { insert: `@${source.botName} `, label: source.botName, detail: source.botLabel, isBot: true };
  const people = source.members.map(({ name, department }) => ({
    insert: `@${name} `,
    label: name,
    detail: department,
  }));
  const options = [bot, ...people].filter(({ label }) => label.toLocaleLowerCase().includes(typed));
  if (options.length === 0 || options.some(({ label }) => label.toLocaleLowerCase() === typed)) return undefined;
  return { kind: 'mention', fromChar: match.index, options };
}
