import { say, type Language } from '../../../shared/text/texts.ts';
import type { ChatRequest } from '../../model/chat-types.ts';
import type { ModelCatalog } from '../../../shared/models/model-catalog.ts';
import type { Models } from '../../policy/policy.ts';
import { TURN_TEXTS } from '../../i18n/turn-texts.ts';

export interface FallbackOptions {
  /** CHAT_FALLBACK_MODEL; undefined where none is set. */
  fallbackModel: string | undefined;
  catalog: ModelCatalog;
}

/**
 * The model that may answer a request when its own is away: only one that this person may use, and never one that would
 * not see the request's images. Undefined when there is none.
 */
export function fallbackFor(
  { fallbackModel, catalog }: FallbackOptions,
  allowed: Models,
  { model, messages }: ChatRequest,
): string | undefined {
  if (fallbackModel === undefined || fallbackModel === model || !allowed.includes(fallbackModel)) return undefined;
  return hasImages(messages) && !catalog.of(fallbackModel).seesImages ? undefined : fallbackModel;
}

/** Says which model answers, to be shown apart from the answer's text. */
export function fallbackNote(model: string, language: Language): string {
  return say(TURN_TEXTS.fallbackAnswers, language, { model });
}

function hasImages(messages: ChatRequest['messages']): boolean {
  return messages.some(({ content }) => typeof content !== 'string' && content.some(({ type }) => type === 'image'));
}
