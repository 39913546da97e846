import type { InboundMessage, MessagePart } from '../platforms/platform.ts';
import { languageOfText, type Language } from '../base/texts.ts';
import type { TurnInput } from './turn-types.ts';

/** What is asked in a turn: the messages merged into it, in the order in which they were said. */
export interface Question {
  text: string;
  /** Media references of images, the quoted ones first. */
  imageRefs: string[];
  /** Text of what the newest message quotes; it is data, not the asker's words. */
  quotedText: string | undefined;
  /** Kinds of content that nobody here can read. */
  unsupported: string[];
  language: Language;
}

/** Joins a turn's messages to one question. */
export function questionOf(turn: TurnInput): Question {
  const messages = turn.messages.map(({ message }) => message);
  const parts = messages.flatMap(({ parts: own }) => own);
  const quotes = messages.flatMap(({ quote }) => quote ?? []);
  const text = textOf(parts);
  const quotedText = textOf(quotes);
  return {
    text,
    imageRefs: [...quotes, ...parts].flatMap((part) => (part.type === 'image' ? [part.mediaRef] : [])),
    quotedText: quotedText === '' ? undefined : quotedText,
    unsupported: parts.flatMap((part) =>
      part.type === 'file' ? ['file'] : part.type === 'unsupported' ? [part.what] : [],
    ),
    language: languageOfMessage(messages.at(-1), text),
  };
}

/** The language in which the bot itself speaks to this person: that of their message. A bare slash word tells it by its spelling. */
function languageOfMessage(newest: InboundMessage | undefined, text: string): Language {
  return languageOfText(text === '' ? (newest?.sender.displayName ?? '') : text);
}

function textOf(parts: MessagePart[]): string {
  return parts
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join('\n')
    .trim();
}
