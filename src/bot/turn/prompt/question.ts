import type { InboundMessage, MessagePart } from '../../domain/message.ts';
import { languageOfText, type Language } from '../../../shared/text/texts.ts';
import { joinSaid, type FileRef, type ImageRef } from '../images/image-refs.ts';
import type { TurnClaim } from '../../domain/turn.ts';

/** A piece of a message that cannot be read: its kind, and its name where it has one. */
export type UnreadPart = Pick<Extract<MessagePart, { type: 'unsupported' }>, 'what' | 'name'>;

/** What is asked in a turn: the messages merged into it, in the order in which they were said. */
export interface Question {
  text: string;
  /** Its images, the quoted ones first, each with its place in the text. */
  images: ImageRef[];
  /** Its files, in the order in which they came. */
  files: FileRef[];
  /** What of the messages cannot be read; quoted pieces are named in `quotedText`. */
  unread: UnreadPart[];
  /** Text of what the newest message quotes; it is data, not the asker's words. */
  quotedText: string | undefined;
  language: Language;
}

/** Joins a turn's messages to one question. */
export function questionOf(turn: TurnClaim): Question {
  const messages = turn.messages.map(({ message }) => message);
  const quotes = messages.flatMap(({ quote }) => quote ?? []);
  const { text, images, files } = joinSaid(turn.messages);
  const unread = messages.flatMap(({ parts }) => parts.filter((part) => part.type === 'unsupported'));
  const quotedText = textOf(quotes, UNREADABLE);
  return {
    text,
    images,
    files,
    unread,
    quotedText: quotedText === '' ? undefined : quotedText,
    language: languageOfMessage(messages.at(-1), text === '' ? quotedText : text),
  };
}

/** The text of one message. */
export function textOfMessage({ parts }: InboundMessage): string {
  return textOf(parts);
}

/** The language in which the bot itself speaks to this person: that of their message. A bare slash word tells it by its spelling. */
function languageOfMessage(newest: InboundMessage | undefined, text: string): Language {
  return languageOfText(text === '' ? (newest?.sender.displayName ?? '') : text);
}

/** What cannot be read is named, so that the model does not answer as if nothing were quoted. */
const UNREADABLE = '[a file is quoted here that cannot be read]';

function textOf(parts: MessagePart[], unreadable?: string): string {
  return parts
    .flatMap((part) => {
      if (part.type === 'text') return [part.text];
      return part.type === 'unsupported' && unreadable !== undefined ? [unreadable] : [];
    })
    .join('\n')
    .trim();
}
