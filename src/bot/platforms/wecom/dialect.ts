import { alterMarks } from '../markdown/alter-marks.ts';
import { withoutUnseen } from '../../../shared/text/sanitize-text.ts';
import type { Dialect } from '../markdown/dialect.ts';

/** What WeCom would take for its own thinking block, however it is written. */
const THINKING = /(?:<|&(?:lt|#0{0,5}60|#x0{0,5}3c);)(?=\s{0,8}\\?\/?\s{0,8}think)/gi;
const LINK_TAG = /<(?=a\s)/gi;

/**
 * WeCom's markdown_v2: headings, lists, quotes, links, code and tables (PLATFORM_FACTS.md wecom-web-sign-in). Each answer to a poll replaces
 * the one before, so what is unfinished is closed for the snapshot. A text cannot pose as the platform's thinking block.
 */
export const WECOM_DIALECT: Dialect = {
  name: 'wecom',
  unfinished: 'close',
  alterOwnMarks: (text) => text.replace(THINKING, '＜'),
};

/** A text that WeCom shows as it is, but for its own link tag, without what calls people or disguises. Doing it twice changes nothing more. */
export function safePlainText(text: string): string {
  return alterMarks(withoutUnseen(text), WECOM_DIALECT).replace(LINK_TAG, '＜');
}
