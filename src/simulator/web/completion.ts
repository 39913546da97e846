import type { Language } from '../../shared/text/texts.ts';
import type { Bootstrap, ConversationView } from '../api.ts';

/** One entry of the composer's list. */
export interface CompletionOption {
  /** Replacement for the typed text. */
  insert: string;
  label: string;
  /** Description beside the label: a department, or what a command does. */
  detail: string;
  isBot?: boolean;
}

/** The open list for the text before the caret. */
export interface Completion {
  kind: 'mention' | 'command';
  /** Start of the typed part; it ends at the caret. */
  fromChar: number;
  options: CompletionOption[];
  /** Enter also sends the inserted command; Tab leaves it for an argument. */
  isSentByEnter?: boolean;
  /** An unknown command; there are no options then. */
  unknown?: string;
}

/** Completion sources of the open conversation. */
export interface CompletionSource {
  kind: ConversationView['kind'];
  botName: string;
  botLabel: string;
  /** Members that can be mentioned, without the writer. */
  members: ConversationView['members'];
  slashWords: Bootstrap['slashWords'];
  otherSpellings?: Bootstrap['otherSpellings'];
  /** Whether the platform reserves slashes for itself (Slack): then commands are completed without one. */
  isSlashTaken: boolean;
  language: Language;
}

/** Characters that may precede the `@` of a mention: not a letter or digit, as in an address such as `a@b`. */
const MENTION_BEGIN = /(?<![\p{Script=Latin}\p{N}._-])@(?<typed>[\p{L}\p{N}_.-]*)$/u;
const COMMAND_BEGIN = /^[/／](?<typed>\p{L}*)$/u;

/** The list for a text and a caret; undefined if there is nothing to complete or everything is typed already. */
export function completionAt(text: string, caret: number, source: CompletionSource): Completion | undefined {
  const before = text.slice(0, caret);
  return commandCompletion(before, source) ?? (source.kind === 'group' ? mentionCompletion(before, source) : undefined);
}

/** Inserts an option in place of the typed text. Returns the new text and caret. */
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
  // In a group the bot only receives messages that mention it, so the mention is inserted with the command.
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
  // If slashes are reserved, a fully typed command is still offered: with the slash it would not reach the bot.
  if (source.isSlashTaken) return { kind: 'command', fromChar, options, isSentByEnter: true };
  const isWhole = found.some(({ word }) => spellingsOf(word).includes(wanted));
  return isWhole ? undefined : { kind: 'command', fromChar, options };
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
