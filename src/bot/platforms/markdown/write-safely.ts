import { neutraliseMentions, withoutRemoteImages } from './alter-marks.ts';
import type { Dialect } from './dialect.ts';
import { hasFormula, escapeMath } from './keep-math.ts';
import { exposeLinkTargets } from './open-links.ts';
import { isTooComplex, parseMarkdown } from './read-tree.ts';

/**
 * A text without a match contains no link, image or HTML in any client, except bare addresses, which lead where they say.
 */
const LINK_OR_HTML = /\]\(|\]\[|\]:|<[A-Za-z/!?]|:\/\/[^\s/?#<>@]{0,300}@/;
const LINK_SIGN = /\](?=[([:])/g;
const TAG_SIGN = /<(?=[A-Za-z/!?])/g;
/**
 * Maximum passes. Each pass repairs what it finds, which may expose more for the next pass. Only texts made for this purpose
 * need more.
 */
const MAX_PASSES = 6;

/**
 * Renders markdown so that it mentions no one, loads nothing, hides no link target
 * (SECURITY.md harmless-marks, honest-links), and shows formulas verbatim. Other text is unchanged. Idempotent.
 * @param markdown with mentions already neutralised (`alterMarks`)
 */
export function sanitizeMarkdown(markdown: string, dialect: Dialect): string {
  let shown = markdown;
  for (let reading = 0; LINK_OR_HTML.test(shown) || hasFormula(shown); reading += 1) {
    if (reading === MAX_PASSES || isTooComplex(shown)) return withoutLinks(shown, dialect);
    const kept = hasFormula(shown) ? escapeMath(shown, parseMarkdown(shown)) : shown;
    const opened = neutraliseMentions(exposeLinkTargets(kept, parseMarkdown(kept)), dialect);
    if (opened === shown) break;
    shown = opened;
  }
  return withoutRemoteImages(shown);
}

/** For a text that is too expensive to parse: neutralises all links, images and HTML. Idempotent. */
export function withoutLinks(markdown: string, dialect: Dialect): string {
  return neutraliseMentions(markdown.replace(LINK_SIGN, '］').replace(TAG_SIGN, '＜'), dialect);
}
