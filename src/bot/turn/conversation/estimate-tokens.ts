/** First code point of the scripts and symbols that take about one token per character: Chinese, kana, hangul, emoji. */
const FIRST_DENSE_CODE = 0x2e80;
const CHARS_PER_TOKEN = 4;

/** Estimated tokens of an image; services scale images to a limited number of tiles. */
export const IMAGE_TOKENS = 1_000;

/** Tokens of a message besides its text: its role and separators. */
export const MESSAGE_TOKENS = 4;

/**
 * Estimates the tokens of a text without the model's tokenizer.
 * @param factor model-specific correction, learned from reported usage. Defaults to 1.
 */
export function estimateTokens(text: string, factor = 1): number {
  return Math.ceil(weightOf(text) * factor);
}

/** The estimate before correction and rounding. */
function weightOf(text: string): number {
  let dense = 0;
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) >= FIRST_DENSE_CODE) dense += 1;
  return dense + (text.length - dense) / CHARS_PER_TOKEN;
}

/**
 * Caches estimates of objects that are measured repeatedly while a prompt is built (messages, tool declarations): the text
 * of each object is read once.
 * @param textOf the text that the model reads; must not change during the lifetime of the object
 */
export function estimatesOf<Thing extends object>(
  textOf: (thing: Thing) => string,
): (thing: Thing, factor?: number) => number {
  const weights = new WeakMap<Thing, number>();
  return (thing, factor = 1) => {
    let weight = weights.get(thing);
    if (weight === undefined) weights.set(thing, (weight = weightOf(textOf(thing))));
    return Math.ceil(weight * factor);
  };
}
