import { neutraliseMarks, outsideCode, withoutRemoteImages } from '../neutralise-marks.ts';
import { withoutUnseen } from '../plain-characters.ts';
import { showLinksOpenly } from '../show-links.ts';

/** Slack's own marks: `<!here>`, `<@U1>`, `<#C1>`, `<!date^…>`; whatever begins so is one to some client. */
const SLACK_MARK = /<(?=[!@#])/g;
/** `<address|label>`: Slack's way to hide an address behind a label. */
const LABELLED_LINK = /<((?:https?|mailto|tel|slack):[^\s<>|]{1,2000})\|([^<>\n]{0,300})>/gi;

/**
 * Makes a text harmless in Slack (security.md 6.4, 6.5): nobody is called by it, it loads nothing from outside, and no
 * link shows another address than it leads to. Marks are altered, not taken out. Doing it twice changes nothing more.
 */
export function neutralise(text: string): string {
  const unmarked = neutraliseMarks(withoutUnseen(text).replace(SLACK_MARK, '＜').replace(LABELLED_LINK, '$2 ($1)'));
  return withoutRemoteImages(outsideCode(unmarked, showLinksOpenly));
}
