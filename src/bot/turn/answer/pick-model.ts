import { localize, type Language } from '../../../shared/text/texts.ts';
import type { ModelCatalog } from '../../../shared/models/model-catalog.ts';
import { IMAGE_TEXTS } from '../../i18n/image-texts.ts';
import { TURN_TEXTS } from '../../i18n/turn-texts.ts';
import type { ChatRequest } from '../../model/chat-types.ts';
import type { Models } from '../../policy/policy.ts';

export interface ModelOptions {
  catalog: ModelCatalog;
  /** All models of this deployment. */
  models: readonly string[];
  /** CHAT_FALLBACK_MODEL; undefined if not set. */
  fallbackModel: string | undefined;
}

/** The first of these models that accepts images; undefined if none does. */
export function firstThatSees(models: readonly string[], catalog: ModelCatalog): string | undefined {
  return models.find((name) => catalog.of(name).seesImages);
}

/** The user's model. If the prompt contains images that it cannot see, the first allowed model that can, with a note. */
export function pickModel(
  catalog: ModelCatalog,
  { allowed, language }: { allowed: Models; language: Language },
  hasImages: boolean,
): { model: string; note?: string } {
  const [usual] = allowed;
  if (!hasImages || catalog.of(usual).seesImages) return { model: usual };
  const model = firstThatSees(allowed, catalog) ?? usual;
  return { model, note: localize(IMAGE_TEXTS.seenBy, language, { model }) };
}

/**
 * Model used when the requested model is unavailable: only a model that this user may use, and never one that cannot see the
 * images of the request. Undefined if there is none.
 */
export function fallbackFor(
  { fallbackModel, catalog }: Pick<ModelOptions, 'catalog' | 'fallbackModel'>,
  allowed: Models,
  { model, messages }: Pick<ChatRequest, 'model' | 'messages'>,
): string | undefined {
  if (fallbackModel === undefined || fallbackModel === model || !allowed.includes(fallbackModel)) return undefined;
  return hasImages(messages) && !catalog.of(fallbackModel).seesImages ? undefined : fallbackModel;
}

function hasImages(messages: ChatRequest['messages']): boolean {
  return messages.some(({ content }) => typeof content !== 'string' && content.some(({ type }) => type === 'image'));
}
