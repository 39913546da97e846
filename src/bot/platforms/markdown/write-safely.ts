import { alterMarks, withoutRemoteImages } from './alter-marks.ts';
import type { Dialect } from './dialect.ts';
import { hasFormula, keepMath } from './keep-math.ts';
import { openLinks } from './open-links.ts';
import { isTooIntricate, readTree } from './read-tree.ts';

/** Without one of these, nothing is a link, an image or HTML to any client, but for bare addresses that lead where they say. */
const LINK_OR_HTML = /\]\(|\]\[|\]:|<[A-Za-z/!?]|:\/\/[^\s/?#<>@]{0,300}@/;
const LINK_SIGN = /\](?=[([:])/g;
const TAG_SIGN = /<(?=[A-Za-z/!?])/g;
/** One reading mends what it finds; what that lays bare is mended by the next. More than these are a text made for it. */
const MOST_READINGS = 6;

/**
 * Writes markdown so that it neither calls people, loads anything nor hides where a link leads (SECURITY.md harmless-marks, honest-links), and so that
 * formulas are shown as they are written. A text without such things is written as it is. Doing it twice changes nothing more.
 * @param markdown already rid of marks (`alterMarks`)
 */
export function writeSafely(markdown: string, dialect: Dialect): string {
  let shown = markdown;
  for (let reading = 0; LINK_OR_HTML.test(shown) || hasFormula(shown); reading += 1) {
    if (reading === MOST_READINGS || isTooIntricate(shown)) return withoutLinks(shown, dialect);
    const kept = hasFormula(shown) ? keepMath(shown, readTree(shown)) : shown;
    const opened = alterMarks(openLinks(kept, readTree(kept)), dialect);
    if (opened === shown) break;
    shown = opened;
  }
  return withoutRemoteImages(shown);
}

/** For a text that would take too long to read: nothing in it is a link, an image or HTML any more. Doing it twice changes nothing more. */
export function withoutLinks(markdown: string, dialect: Dialect): string {
  return alterMarks(markdown.replace(LINK_SIGN, '］').replace(TAG_SIGN, '＜'), dialect);
}
