import type { Chat } from '../../domain/message.ts';
import type { Models } from '../../policy/policy.ts';
import { localize } from '../../../shared/text/texts.ts';
import { IMAGE_TEXTS } from '../../i18n/image-texts.ts';
import { firstThatSees, type ModelOptions } from '../answer/pick-model.ts';
import { MAX_IMAGES, type ImageRefusedError } from './fetch-images.ts';
import type { Question } from '../prompt/question.ts';

/**
 * Checks before any download whether the images of a question can be used. @returns the refusal text, or undefined if they
 * can
 */
export function imageObstacle(
  { catalog, models }: Pick<ModelOptions, 'catalog' | 'models'>,
  { question, allowed, chatKind }: { question: Readonly<Question>; allowed: Models; chatKind: Chat['kind'] },
): string | undefined {
  const { images, language } = question;
  const count = images.length;
  if (count === 0) return undefined;
  if (firstThatSees(allowed, catalog) === undefined) {
    const others = firstThatSees(models, catalog);
    // Other members read the replies in a group, so one text covers all reasons and reveals nothing about the user.
    return others !== undefined && chatKind === 'private'
      ? localize(IMAGE_TEXTS.mayNotShowImages, language, { model: others })
      : localize(IMAGE_TEXTS.noModelSees, language);
  }
  if (count > MAX_IMAGES) return localize(IMAGE_TEXTS.tooManyImages, language, { count, most: MAX_IMAGES });
  return undefined;
}

/** The fault of an image, and a remedy for the user. */
export function imageRefusal(
  question: Pick<Question, 'images' | 'language'>,
  { code, position }: ImageRefusedError,
): string {
  const { language, images } = question;
  const image =
    images.length === 1
      ? localize(IMAGE_TEXTS.oneImage, language)
      : localize(IMAGE_TEXTS.imageOfMany, language, { number: position, count: images.length });
  return localize(IMAGE_TEXTS[code], language, { image });
}
