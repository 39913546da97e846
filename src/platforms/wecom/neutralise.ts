import { neutraliseMarks, outsideCode, withoutRemoteImages } from '../neutralise-marks.ts';
import { withoutUnseen } from '../plain-characters.ts';
import { showLinksOpenly } from '../show-links.ts';

/**
 * Makes a text harmless in WeCom's markdown (security.md 6.4, 6.5): nobody is called by it, it cannot pose as the
 * platform's thinking block, loads nothing from outside, and no link shows another address than it leads to.
 * Marks are altered, not taken out, so that a person still sees what was written. Doing it twice changes nothing more.
 */
export function neutralise(text: string): string {
  return withoutRemoteImages(outsideCode(withoutMarks(text), showLinksOpenly));
}

/** The same for a text that is shown as it is, but for WeCom's own link tag. */
export function neutralisePlain(text: string): string {
  return withoutMarks(text).replace(LINK_TAG, '＜');
}

const THINKING = /<(?=\s{0,8}\/?\s{0,8}think)/gi;
const LINK_TAG = /<(?=a\s)/gi;

function withoutMarks(text: string): string {
  return neutraliseMarks(withoutUnseen(text).replace(THINKING, '＜'));
}
