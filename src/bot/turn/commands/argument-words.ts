import type { Language } from '../../../shared/text/texts.ts';

/** What people type behind a slash word, in either language; compared without case. */

/** Takes a choice back. */
export const AUTO_WORDS: ReadonlySet<string> = new Set(['auto', 'default', '自动', '默认']);

export const LANGUAGE_WORDS: ReadonlyMap<string, Language> = new Map([
  ...['en', 'english', '英文', '英语'].map((word) => [word, 'en'] as const),
  ...['zh', 'zh-cn', 'cn', 'chinese', '中文', '汉语', '简体中文'].map((word) => [word, 'zh'] as const),
]);
