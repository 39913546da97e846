import type { Language } from '../../../shared/text/texts.ts';

/** Arguments of slash commands in both languages; compared case-insensitively. */

/** Resets a choice to the default. */
export const AUTO_WORDS: ReadonlySet<string> = new Set(['auto', 'default', '自动', '默认']);

export const LANGUAGE_WORDS: ReadonlyMap<string, Language> = new Map([
  ...['en', 'english', '英文', '英语'].map((word) => [word, 'en'] as const),
  ...['zh', 'zh-cn', 'cn', 'chinese', '中文', '汉语', '简体中文'].map((word) => [word, 'zh'] as const),
]);
