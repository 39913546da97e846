import { say } from '../../base/texts.ts';
import type { Models } from '../../policy/policy.ts';
import { IMAGE_TEXTS } from '../../texts/image-texts.ts';
import type { AdmittedContext } from '../turn-context.ts';

/** The model that answers a turn. */
export interface ChosenModel {
  model: string;
  /** Said apart from the answer where another model answers than otherwise would. */
  note?: string;
}

/** Whether a model that can see may answer this person. */
export function maySee(models: Models, visionModel: string): boolean {
  return models.includes(visionModel);
}

/** The person's model; with images in the prompt the one that can see, which they must be allowed to use (`maySee`). */
export function pickModel(
  { visionModel }: { visionModel: string },
  { models, question }: Pick<AdmittedContext, 'models' | 'question'>,
  hasImages: boolean,
): ChosenModel {
  const [usual] = models;
  if (!hasImages || usual === visionModel) return { model: usual };
  return { model: visionModel, note: say(IMAGE_TEXTS.seenBy, question.language, { model: visionModel }) };
}
