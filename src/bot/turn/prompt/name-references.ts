import type { InboundMessage } from '../../domain/message.ts';
import { localize, type Language } from '../../../shared/text/texts.ts';
import { REFERENCE_TEXTS } from '../../i18n/reference-texts.ts';
import type { ImageRef } from '../images/image-refs.ts';
import type { TurnContext } from '../turn-context.ts';
import type { Question } from './question.ts';

const REFERENCE = /^[@#][A-Z0-9]{2,42}$/;

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
  const found = (await platform.namesOf?.(references)) ?? new Map<string, string>();
  const named = createNamer(new Map(references.map((one) => [one, found.get(one)])), question.language);
  return {
    ...question,
    text: named(question.text),
    images: question.images.map((image) => moved(image, question.text, named)),
    quotedText: question.quotedText === undefined ? undefined : named(question.quotedText),
  };
}

/** Replaces references in a text by their names, or by a neutral word for an unknown name. */
export function createNamer(
  names: ReadonlyMap<string, string | undefined>,
  language: Language,
): (text: string) => string {
  // Longest first, because one id may be a prefix of another.
  const references = [...names.keys()].filter((one) => REFERENCE.test(one)).sort((a, b) => b.length - a.length);
  if (references.length === 0) return (text) => text;
  const wordFor = (reference: string): string => {
    const name = names.get(reference);
    if (name !== undefined) return `${reference.slice(0, 1)}${name}`;
    return localize(reference.startsWith('#') ? REFERENCE_TEXTS.channel : REFERENCE_TEXTS.somebody, language);
  };
  const pattern = new RegExp(`(?:${references.join('|')})(?![A-Z0-9])`, 'g');
  return (text) => text.replace(pattern, wordFor);
}

/** Only references of letters and digits, which are safe in a regular expression. */
function unnamedIn({ unnamed = [] }: InboundMessage): string[] {
  return unnamed.filter((one) => REFERENCE.test(one));
}

/** Adjusts the position of an image if the text before it becomes longer or shorter. */
function moved(image: ImageRef, text: string, named: (text: string) => string): ImageRef {
  return typeof image.place === 'number' ? { ...image, place: named(text.slice(0, image.place)).length } : image;
}
