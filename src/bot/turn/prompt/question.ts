import type { InboundMessage, MessagePart } from '../../domain/message.ts';
import { languageOfText, type Language } from '../../../shared/text/texts.ts';
import { joinMessages, type FileRef, type ImageRef } from '../images/image-refs.ts';
import type { TurnClaim } from '../../domain/turn.ts';

/** A part of a message that cannot be read: its kind and, if known, its name. */
export type UnreadPart = Pick<Extract<MessagePart, { type: 'unsupported' }>, 'what' | 'name'>;

/** The question of a turn: its merged messages in order. */
export interface Question {
  text: string;
  /** The images, quoted images first, with their positions in the text. */
  images: ImageRef[];
  /** The files, in order of arrival. */
  files: FileRef[];
  /** Unreadable parts of the messages; `quotedText` names unreadable quoted parts. */
  unread: UnreadPart[];
  /** Text quoted by the messages; data, not the user's own words. */
  quotedText: string | undefined;
  language: Language;
}

/** Joins the messages of a turn into one question. */
export function questionOf(turn: TurnClaim): Question {
  const messages = turn.messages.map(({ message }) => message);
  const quotes = messages.flatMap(({ quote }) => quote ?? []);
  const { text, images, files } = joinMessages(turn.messages);
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

/**
 * The language of the message; `open-turn.ts` decides in which language the person is answered. A slash command alone
 * reveals it by its spelling.
 */
function languageOfMessage(newest: InboundMessage | undefined, text: string): Language {
  return languageOfText(text === '' ? (newest?.sender.displayName ?? '') : text);
}

/** Names an unreadable quote, so that the model does not answer as if nothing were quoted. */
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
