import { fenceAfter, type CodeFence } from '../code-fence.ts';
import { withoutUnseen } from '../plain-characters.ts';
import { showLinksOpenly } from './show-links.ts';

/**
 * Makes a text harmless in WeCom's markdown (security.md 6.4, 6.5): nobody is called by it, it cannot pose as the
 * platform's thinking block, loads nothing from outside, and no link shows another address than it leads to.
 * Marks are altered, not taken out, so that a person still sees what was written. Doing it twice changes nothing more.
 */
export function neutralise(text: string): string {
  return outsideCode(neutraliseMarks(withoutUnseen(text)), showLinksOpenly).replace(REMOTE_IMAGE, '！');
}

/** The same for a text that is shown as it is, but for WeCom's own link tag. */
export function neutralisePlain(text: string): string {
  return neutraliseMarks(withoutUnseen(text)).replace(LINK_TAG, '＜');
}

/** Everybody in a chat is called by these; `@allocate` is an ordinary word. */
const CALLS_EVERYBODY = /@(?=所有人|(?:all|everyone|here|channel)(?![A-Za-z0-9_]))/gi;
/** Other platforms' marks are altered as well: a text may be carried on from here (contract section 4). */
const CALLS_ELSEWHERE = /<(?=!(?:channel|here|everyone|subteam)|\/?at\b)/gi;
const CALLS_SOMEBODY = /<@/g;
const THINKING = /<(?=\s{0,8}\/?\s{0,8}think)/gi;
const LINK_TAG = /<(?=a\s)/gi;
/** In code too: what is code to us may be prose to a client that reads the markdown around it differently. */
const REMOTE_IMAGE = /!(?=\[[^\]\n]{0,300}\]\(\s{0,8}<?https?:)/gi;

function neutraliseMarks(text: string): string {
  return text
    .replace(THINKING, '＜')
    .replace(CALLS_ELSEWHERE, '＜')
    .replace(CALLS_SOMEBODY, '<＠')
    .replace(CALLS_EVERYBODY, '＠');
}

/** Applies a change to what is prose: fenced blocks and code spans are shown as they are, so they stay as they are. */
function outsideCode(text: string, change: (prose: string) => string): string {
  let whole = '';
  let prose = '';
  let fence: CodeFence | undefined;
  for (const line of text.split(/(?<=\n)/)) {
    const before = fence;
    fence = fenceAfter(fence, line.replace(/\r?\n$/, ''));
    if (!before && !fence) {
      prose += line;
    } else {
      whole += outsideSpans(prose, change) + line;
      prose = '';
    }
  }
  return whole + outsideSpans(prose, change);
}

const CODE_SPAN = /((?<![`\\])`[^`\n]{1,1000}`(?!`)|(?<![`\\])``(?!`)[^\n]{1,1000}?(?<!`)``(?!`))/;

function outsideSpans(prose: string, change: (prose: string) => string): string {
  return prose
    .split(CODE_SPAN)
    .map((part, index) => (index % 2 === 1 ? part : change(part)))
    .join('');
}
