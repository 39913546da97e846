import { localize, type Language } from '../../../shared/text/texts.ts';
import type { ThinkingChoice } from '../conversation/preferences.ts';
import { WORD_TEXTS } from '../../i18n/word-texts.ts';

const NAMES = {
  off: WORD_TEXTS.levelOff,
  low: WORD_TEXTS.levelLow,
  high: WORD_TEXTS.levelHigh,
  max: WORD_TEXTS.levelMax,
} as const satisfies Record<ThinkingChoice, unknown>;

/** Localized name of a reasoning level; unknown levels are returned unchanged. */
export function levelName(level: string, language: Language): string {
  return isLevel(level) ? localize(NAMES[level], language) : level;
}

/** The reasoning level with this name in either language. */
export function levelOf(name: string): ThinkingChoice | undefined {
  return (Object.keys(NAMES) as ThinkingChoice[]).find((level) =>
    [NAMES[level].en, NAMES[level].zh].includes(name as never),
  );
}

function isLevel(level: string): level is ThinkingChoice {
  return Object.hasOwn(NAMES, level);
}
