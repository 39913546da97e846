import type { InboundMessage } from '../../domain/message.ts';
import { localize } from '../../../shared/text/texts.ts';
import { REFERENCE_TEXTS } from '../../i18n/reference-texts.ts';
import type { ImageRef } from '../images/image-refs.ts';
import type { TurnContext } from '../turn-context.ts';
import type { Question } from './question.ts';

/**
 * Replaces ids of mentioned people and channels in the question by names, or by a neutral word if the platform does not
 * return a name in time (SECURITY.md mentioned-names).
 */
export async function nameReferences({ turn, platform, question }: TurnContext): Promise<Readonly<Question>> {
  const all = [question.text, question.quotedText ?? ''].join('\n');
  const references = [...new Set(turn.messages.flatMap(({ message }) => unnamedIn(message)))].filter((one) =>
    all.includes(one),
  );
  if (references.length === 0) return question;
  const names = (await platform.namesOf?.(references)) ?? new Map<string, string>();
  const wordFor = (reference: string): string => {
    const name = names.get(reference);
    if (name !== undefined) return `${reference.slice(0, 1)}${name}`;
    return localize(reference.startsWith('#') ? REFERENCE_TEXTS.channel : REFERENCE_TEXTS.somebody, question.language);
  };
  // Longest first, because one id may be a prefix of another.
  const pattern = new RegExp(`(?:${[...references].sort((a, b) => b.length - a.length).join('|')})(?![A-Z0-9])`, 'g');
  const named = (text: string) => text.replace(pattern, wordFor);
  return {
    ...question,
    text: named(question.text),
    images: question.images.map((image) => moved(image, question.text, named)),
    quotedText: question.quotedText === undefined ? undefined : named(question.quotedText),
  };
}

/** Only references of letters and digits, which are safe in a regular expression. */
function unnamedIn({ unnamed = [] }: InboundMessage): string[] {
  return unnamed.filter((one) => /^[@#][A-Z0-9]{2,42}$/.test(one));
}

/** Adjusts the position of an image if the text before it becomes longer or shorter. */
function moved(image: ImageRef, text: string, named: (text: string) => string): ImageRef {
  return typeof image.place === 'number' ? { ...image, place: named(text.slice(0, image.place)).length } : image;
}
