import { neutraliseMentions } from '../markdown/alter-marks.ts';
import { stripInvisible } from '../../../shared/text/sanitize-text.ts';
import type { Dialect } from '../markdown/dialect.ts';

/** Tags that WeCom would treat as its own thinking block, in any notation. */
const THINKING = /(?:<|&(?:lt|#0{0,5}60|#x0{0,5}3c);)(?=\s{0,8}\\?\/?\s{0,8}think)/gi;
const LINK_TAG = /<(?=a\s)/gi;

/**
 * WeCom's markdown_v2: headings, lists, quotes, links, code and tables (PLATFORM_FACTS.md wecom-markdown). Each answer to
 * a poll replaces the previous one, so unfinished markdown is closed for the snapshot. A text cannot imitate the platform's
 * thinking block.
 */
export const WECOM_DIALECT: Dialect = {
  name: 'wecom',
  unfinished: 'close',
  neutraliseOwnMentions: (text) => text.replace(THINKING, '＜'),
};

/**
 * Neutralises a text that WeCom shows verbatim, apart from its own link tag: mentions, thinking tags, link tags and
 * invisible characters. Idempotent.
 */
export function safePlainText(text: string): string {
  return neutraliseMentions(stripInvisible(text), WECOM_DIALECT).replace(LINK_TAG, '＜');
}
