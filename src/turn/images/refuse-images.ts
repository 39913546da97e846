import { say } from '../../base/texts.ts';
import { IMAGE_TEXTS } from '../../texts/image-texts.ts';
import { maySee } from '../ask/pick-model.ts';
import { MOST_IMAGES, type ImageRefusedError } from './fetch-images.ts';
import type { AdmittedContext, TurnContext } from '../turn-context.ts';

export interface SightOptions {
  /** The only model that can see; used where the person may use it. */
  visionModel: string;
  /** All models of this deployment. */
  models: readonly string[];
}

/** Why a question's images cannot be looked at, before any is fetched. @returns the sentence, or undefined when they can */
export function imageObstacle({ visionModel, models }: SightOptions, context: AdmittedContext): string | undefined {
  const { question, newest } = context;
  const count = question.images.length;
  if (count === 0) return undefined;
  if (!maySee(context.models, visionModel)) {
    // In a group others read along: there one sentence stands for every reason, so that it tells nothing about the person.
    const isTheirs = models.includes(visionModel) && newest.chat.kind === 'private';
    return isTheirs
      ? say(IMAGE_TEXTS.mayNotShowImages, question.language, { model: visionModel })
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
