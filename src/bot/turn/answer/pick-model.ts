import { say } from '../../../shared/text/texts.ts';
import type { ModelCatalog } from '../../../shared/models/model-catalog.ts';
import { IMAGE_TEXTS } from '../../i18n/image-texts.ts';
import type { AdmittedContext } from '../turn-context.ts';

/** The model that answers a turn. */
export interface ChosenModel {
  model: string;
  /** Said apart from the answer where another model answers than otherwise would. */
  note?: string;
}

/** The first of these models that can see; undefined where none can. */
export function firstThatSees(models: readonly string[], catalog: ModelCatalog): string | undefined {
  return models.find((name) => catalog.of(name).seesImages);
}

/** The person's model; with images in the prompt, where it cannot see, the first of theirs that can. */
export function pickModel(
  { catalog }: { catalog: ModelCatalog },
  { models, question }: Pick<AdmittedContext, 'models' | 'question'>,
  hasImages: boolean,
): ChosenModel {
  const [usual] = models;
  if (!hasImages || catalog.of(usual).seesImages) return { model: usual };
  const model = firstThatSees(models, catalog) ?? usual;
  return { model, note: say(IMAGE_TEXTS.seenBy, question.language, { model }) };
}
