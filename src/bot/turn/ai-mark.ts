import { localize, type Language } from '../../shared/text/texts.ts';
import { REPLY_TEXTS } from '../i18n/reply-texts.ts';
import type { DeliveryId } from '../domain/ids.ts';
import type { Outcome } from './outcome.ts';

/** Value of `AI_MARK`: the default words in the person's language, words of the institution, or no mark. */
export type AiMarkSetting = 'default' | 'none' | { words: string };

/** The mark of one answer as AI-generated. It is never part of the model's text (SECURITY.md ai-mark). */
export interface AiMark {
  /** Shown beside the answer. */
  words: string;
  /** Metadata that begins a file with the answer. */
  fileHeader: string;
}

const SHOWS_MODEL_TEXT: ReadonlySet<Outcome['kind']> = new Set(['answered', 'interrupted', 'stopped'] as const);

/** @returns undefined for a text that no model wrote, and without a mark */
export function aiMarkOf(
  setting: AiMarkSetting,
  { kind, text, model }: Pick<Outcome, 'kind' | 'text' | 'model'>,
  { language, turnId }: { language: Language; turnId: DeliveryId },
): AiMark | undefined {
  const words = aiMarkWords(setting, language);
  if (words === undefined || model === undefined || text === '' || !SHOWS_MODEL_TEXT.has(kind)) return undefined;
  return { words, fileHeader: aiFileHeader(words, turnId) };
}

export function aiMarkWords(setting: AiMarkSetting, language: Language): string | undefined {
  if (setting === 'none') return undefined;
  return setting === 'default' ? localize(REPLY_TEXTS.aiMark, language) : setting.words;
}

/**
 * Front matter with the implicit label that China's labelling measures require in the metadata of a file (GB 45438-2025):
 * one field `AIGC` with these members, of which `Label` 1 means "is AI-generated".
 */
export function aiFileHeader(words: string, turnId: DeliveryId): string {
  const label = {
    Label: '1',
    ContentProducer: 'Parley',
    ProduceID: turnId,
    ReservedCode1: '',
    ContentPropagator: '',
    PropagateID: '',
    ReservedCode2: '',
  };
  return `---\nabout: ${JSON.stringify(words)}\nAIGC: ${JSON.stringify(label)}\n---\n\n`;
}
