import katex from 'katex';

/** Maximum macro expansions of a formula, so that a short one cannot grow without end. */
const MAX_EXPANSIONS = 100;
/** Maximum size that a formula may give to a space or a line, in em. */
const MAX_SIZE_EM = 20;
/** Maximum cached formulas; a cache miss only costs time. */
const MAX_CACHED = 256;

const cache = new Map<string, string | undefined>();

/**
 * Draws a formula as HTML, with MathML for screen readers. Styles are in `data-style`, see `useFormulaStyles`. A growing answer
 * renders the same formulas again and again, so they are cached.
 * @returns undefined for an invalid formula
 */
export function drawFormula(tex: string, isDisplay: boolean): string | undefined {
  const key = `${isDisplay} ${tex}`;
  if (cache.has(key)) return cache.get(key);
  const html = draw(tex, isDisplay);
  if (cache.size >= MAX_CACHED) cache.clear();
  cache.set(key, html);
  return html;
}

function draw(tex: string, isDisplay: boolean): string | undefined {
  try {
    const html = katex.renderToString(tex, {
      displayMode: isDisplay,
      throwOnError: true,
      maxExpand: MAX_EXPANSIONS,
      maxSize: MAX_SIZE_EM,
      strict: 'ignore',
      trust: false,
    });
    // The library escapes quotation marks in texts and values, so this is found in tags only.
    return html.replaceAll(' style="', ' data-style="');
  } catch {
    // Also a stack that overflows for a deeply nested formula.
    return undefined;
  }
}
