import { say } from '../../../shared/text/texts.ts';
import { IMAGE_TEXTS } from '../../i18n/image-texts.ts';
import type { ModelCatalog } from '../../../shared/models/model-catalog.ts';
import { firstThatSees } from '../answer/pick-model.ts';
import { MOST_IMAGES, type ImageRefusedError } from './fetch-images.ts';
import type { AdmittedContext, TurnContext } from '../turn-context.ts';

export interface SightOptions {
  /** Says which models can see. */
  catalog: ModelCatalog;
  /** All models of this deployment. */
  models: readonly string[];
}

/** Why a question's images cannot be looked at, before any is fetched. @returns the sentence, or undefined when they can */
export function imageObstacle({ catalog, models }: SightOptions, context: AdmittedContext): string | undefined {
  const { question, newest } = context;
  const count = question.images.length;
  if (count === 0) return undefined;
  if (firstThatSees(context.models, catalog) === undefined) {
    const others = firstThatSees(models, catalog);
    // In a group others read along: there one sentence stands for every reason, so that it tells nothing about the person.
    return others !== undefined && newest.chat.kind === 'private'
      ? say(IMAGE_TEXTS.mayNotShowImages, question.language, { model: others })
      : say(IMAGE_TEXTS.noModelSees, question.language);
  }
  if (count > MOST_IMAGES) return say(IMAGE_TEXTS.tooManyImages, question.language, { count, most: MOST_IMAGES });
  return undefined;
}

/** What is wrong with one of the images, and what the person can do. */
export function imageRefusal({ question }: TurnContext, { code, position }: ImageRefusedError): string {
  const { language, images } = question;
  const image =
    images.length === 1
      ? say(IMAGE_TEXTS.oneImage, language)
      : say(IMAGE_TEXTS.imageOfMany, language, { number: position, count: images.length });
  return say(IMAGE_TEXTS[code], language, { image });
}
