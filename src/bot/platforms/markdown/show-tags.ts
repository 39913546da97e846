/**
 * Angle brackets that contain only names: types (`List<T>`, `<T extends Shape>`), placeholders (`<your-name>`), or HTML
 * without attribute values.
 */
const BARE_NAMES = /^<\/?([A-Za-z][\w.:-]{0,40})(?:\s{1,8}[A-Za-z_:][\w.:-]{0,40}){0,6}\s{0,8}\/?>/;
const MAX_TAG_CHARS = 300;
/** Tags with which a client could load a resource, request input, or swallow the following text. */
const DANGEROUS_TAGS = new Set(
  (
    'applet area audio base body button canvas datalist dialog embed fieldset form frame frameset head html iframe image img ' +
    'input link map math meta noembed noframes noscript object option optgroup param picture plaintext portal script select ' +
    'slot source style svg template textarea title track video xmp'
  ).split(' '),
);
/** Other HTML tags. Where it is uncertain what is code, a name like these may be HTML. */
const HARMLESS = new Set(
  (
    'a abbr address article aside at b bdi bdo big blockquote br caption center cite code col colgroup data dd del details dfn dir ' +
    'div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hgroup hr i ins kbd label legend li main mark marquee ' +
    'menu meter nav nobr ol output p pre progress q rb rp rt ruby s samp search section small span strike strong sub summary ' +
    'sup table tbody td tfoot th thead time tr tt u ul var wbr'
  ).split(' '),
);

/**
 * Shows tags in prose as text in every client. A tag of bare names is escaped, which every markdown parser resolves; the
 * bracket of a dangerous tag is replaced, so that even clients without escapes show it as text.
 * @param begins matches the brackets with which tags begin
 */
export function escapeTags(prose: string, begins: RegExp): string {
  return prose.replace(begins, (sign: string, ...rest: unknown[]) => {
    const at = placeIn(rest);
    if (isEscaped(prose, at)) return isDangerous(nameAt(prose, at)) ? '＜' : sign;
    return isDangerous(nameAt(prose, at)) ? '＜' : '\\<';
  });
}

/** Like `showTags` where an escape would be visible: names that are not HTML are unchanged, all others are replaced. */
export function escapeTagsInCode(written: string, begins: RegExp): string {
  return written.replace(begins, (sign: string, ...rest: unknown[]) => {
    const name = nameAt(written, placeIn(rest));
    return isDangerous(name) || HARMLESS.has(name) ? '＜' : sign;
  });
}

/** @returns an empty string if the tag contains more than names */
function nameAt(text: string, at: number): string {
  return BARE_NAMES.exec(text.slice(at, at + MAX_TAG_CHARS))?.[1]?.toLowerCase() ?? '';
}

function isDangerous(name: string): boolean {
  return name === '' || DANGEROUS_TAGS.has(name);
}

function isEscaped(text: string, at: number): boolean {
  let signs = 0;
  while (text[at - signs - 1] === '\\') signs += 1;
  return signs % 2 === 1;
}

/** Position of a match, from the arguments that a replacer receives after the match itself. */
function placeIn(rest: readonly unknown[]): number {
  return Number(rest.findLast((each) => typeof each === 'number'));
}
