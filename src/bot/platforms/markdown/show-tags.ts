/**
 * Names alone in angle brackets: types (`List<T>`, `<T extends Shape>`), something to fill in (`<your-name>`), or HTML that does
 * nothing without values.
 */
const BARE_NAMES = /^<\/?([A-Za-z][\w.:-]{0,40})(?:\s{1,8}[A-Za-z_:][\w.:-]{0,40}){0,6}\s{0,8}\/?>/;
const MOST_TAG_CHARS = 300;
/** What these begin, a client could load, ask for, or take all that follows for. */
const OBEYED = new Set(
  (
    'applet area audio base body button canvas datalist dialog embed fieldset form frame frameset head html iframe image img ' +
    'input link map math meta noembed noframes noscript object option optgroup param picture plaintext portal script select ' +
    'slot source style svg template textarea title track video xmp'
  ).split(' '),
);
/** Other names that HTML knows; where it is not certain what is code, these could be taken for it. */
const HARMLESS = new Set(
  (
    'a abbr address article aside at b bdi bdo big blockquote br caption center cite code col colgroup data dd del details dfn dir ' +
    'div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hgroup hr i ins kbd label legend li main mark marquee ' +
    'menu meter nav nobr ol output p pre progress q rb rp rt ruby s samp search section small span strike strong sub summary ' +
    'sup table tbody td tfoot th thead time tr tt u ul var wbr'
  ).split(' '),
);

/**
 * Shows tags in prose as they were written, without their being tags to any client: a bare name is escaped, which every reader of
 * markdown takes back; what could be obeyed has its sign altered, so that not even a client without escapes obeys it.
 * @param begins finds the signs with which tags begin
 */
export function showTags(prose: string, begins: RegExp): string {
  return prose.replace(begins, (sign: string, ...rest: unknown[]) => {
    const at = placeIn(rest);
    if (isEscaped(prose, at)) return isObeyed(nameAt(prose, at)) ? '＜' : sign;
    return isObeyed(nameAt(prose, at)) ? '＜' : '\\<';
  });
}

/** The same where an escape would be seen: names that no HTML has are left as they are, all others are altered. */
export function showTagsInCode(written: string, begins: RegExp): string {
  return written.replace(begins, (sign: string, ...rest: unknown[]) => {
    const name = nameAt(written, placeIn(rest));
    return isObeyed(name) || HARMLESS.has(name) ? '＜' : sign;
  });
}

/** @returns an empty text where there are not names alone */
function nameAt(text: string, at: number): string {
  return BARE_NAMES.exec(text.slice(at, at + MOST_TAG_CHARS))?.[1]?.toLowerCase() ?? '';
}

function isObeyed(name: string): boolean {
  return name === '' || OBEYED.has(name);
}

function isEscaped(text: string, at: number): boolean {
  let signs = 0;
  while (text[at - signs - 1] === '\\') signs += 1;
  return signs % 2 === 1;
}

/** Where a match lies, from the arguments that a replacer gets behind the match itself. */
function placeIn(rest: readonly unknown[]): number {
  return Number(rest.findLast((each) => typeof each === 'number'));
}
