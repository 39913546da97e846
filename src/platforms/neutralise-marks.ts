import { fenceAfter, type CodeFence } from './code-fence.ts';

/** Everybody in a chat is called by these; `@allocate` is an ordinary word. */
const CALLS_EVERYBODY = /@(?=所有人|(?:all|everyone|here|channel)(?![A-Za-z0-9_]))/gi;
/** Other platforms' marks are altered as well: a text may be carried on from here (contract section 4). */
const CALLS_ELSEWHERE = /<(?=!(?:channel|here|everyone|subteam)|\/?at\b)/gi;
const CALLS_SOMEBODY = /<@/g;
/** In code too: what is code to us may be prose to a client that reads the markdown around it differently. */
const REMOTE_IMAGE = /!(?=\[[^\]\n]{0,300}\]\(\s{0,8}<?https?:)/gi;

/** Alters what would call people, on any platform (security.md 6.4). Doing it twice changes nothing more. */
export function neutraliseMarks(text: string): string {
  return text.replace(CALLS_ELSEWHERE, '＜').replace(CALLS_SOMEBODY, '<＠').replace(CALLS_EVERYBODY, '＠');
}

/** Alters the sign that makes a markdown client load an image from elsewhere (security.md 6.5). */
export function withoutRemoteImages(text: string): string {
  return text.replace(REMOTE_IMAGE, '！');
}

/** Applies a change to what is prose: fenced blocks and code spans are shown as they are, so they stay as they are. */
export function outsideCode(text: string, change: (prose: string) => string): string {
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
