import { localize } from '../../shared/text/texts.ts';
import { TURN_TEXTS } from '../i18n/turn-texts.ts';
import { UNREAD_KINDS, UNREAD_TEXTS } from '../i18n/unread-texts.ts';
import { displayFileName } from './files/file-words.ts';
import type { Question, UnreadPart } from './prompt/question.ts';

type Told = Pick<Question, 'unread' | 'language'>;

/** Kinds that can be read if the user uploads the file itself. */
const UPLOADABLE: ReadonlySet<string> = new Set(['canvas', 'elsewhere', 'withheld', 'file']);

/** @returns the text for a message without readable parts: its kind, and the readable kinds */
export function unreadRefusal({ unread, language }: Told): string {
  const [first] = unread;
  if (first === undefined) return localize(TURN_TEXTS.unsupported, language);
  const text = UPLOADABLE.has(first.what) ? UNREAD_TEXTS.uploadInstead : UNREAD_TEXTS.alone;
  return localize(text, language, { what: nameOf(first, language) });
}

/** Notes next to the answer about unreadable parts of the question, without duplicates. */
export function unreadNotes({ unread, language }: Told): string[] {
  const notes = unread.map((part) => localize(UNREAD_TEXTS.beside, language, { what: nameOf(part, language) }));
  return [...new Set(notes)];
}

function nameOf({ what, name }: UnreadPart, language: Question['language']): string {
  const kind = what === 'file' ? 'withheld' : what;
  const words = Object.hasOwn(UNREAD_KINDS, kind)
    ? UNREAD_KINDS[kind as keyof typeof UNREAD_KINDS]
    : UNREAD_KINDS.other;
  const shown = displayFileName(name, language);
  return localize(words, language, { file: name === undefined ? shown : `“${shown}”` });
}
