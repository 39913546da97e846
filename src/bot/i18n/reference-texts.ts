import type { Catalogue } from '../../shared/text/texts.ts';

/** Neutral placeholders in a question for people and channels whose names the platform does not provide. */
export const REFERENCE_TEXTS = {
  somebody: { en: '@someone', zh: '@某人' },
  channel: { en: '#a-channel', zh: '#某频道' },
} as const satisfies Catalogue<string>;
