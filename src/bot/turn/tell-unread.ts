import { say } from '../../shared/text/texts.ts';
import { TURN_TEXTS } from '../i18n/turn-texts.ts';
import { UNREAD_KINDS, UNREAD_TEXTS } from '../i18n/unread-texts.ts';
import { shownName } from './files/file-words.ts';
import type { Question, UnreadPart } from './prompt/question.ts';

type Told = Pick<Question, 'unread' | 'language'>;

/** Kinds that can be read once the file itself is sent. */
const UPLOADABLE: ReadonlySet<string> = new Set(['canvas', 'elsewhere', 'withheld', 'file']);

/** @returns the sentence for a message of which nothing can be read: what it is, and what can be read */
export function unreadRefusal({ unread, language }: Told): string {
  const [first] = unread;
  if (first === undefined) return say(TURN_TEXTS.unsupported, language);
  const text = UPLOADABLE.has(first.what) ? UNREAD_TEXTS.uploadInstead : UNREAD_TEXTS.alone;
  return say(text, language, { what: nameOf(first, language) });
}

/** What is said beside the answer to a question of which a part cannot be read, once for each. */
export function unreadNotes({ unread, language }: Told): string[] {
  const notes = unread.map((part) => say(UNREAD_TEXTS.beside, language, { what: nameOf(part, language) }));
  return [...new Set(notes)];
}

function nameOf({ what, name }: UnreadPart, language: Question['language']): string {
  const kind = what === 'file' ? 'withheld' : what;
  const words = Object.hasOwn(UNREAD_KINDS, kind)
    ? UNREAD_KINDS[kind as keyof typeof UNREAD_KINDS]
    : UNREAD_KINDS.other;
  const shown = shownName(name, language);
  return say(words, language, { file: name === undefined ? shown : quoted(shown) });
}

function quoted(name: string): string {
  return `“${name}”`;
}
