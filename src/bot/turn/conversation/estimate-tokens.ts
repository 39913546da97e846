/** From here on come the scripts and symbols of which models read about one character a token: Chinese, kana, hangul, emoji. */
const FIRST_DENSE_CODE = 0x2e80;
const CHARS_PER_TOKEN = 4;

/** What an image costs in a prompt; services scale images to a bounded number of tiles. */
export const IMAGE_TOKENS = 1_000;

/** What a message costs beside its text: its role and separators. */
export const MESSAGE_TOKENS = 4;

/**
 * Estimates how many tokens a text takes, without the model's own tokenizer.
 * @param factor corrects the estimate for a model, as its reported usage shows; 1 unless told
 */
export function estimateTokens(text: string, factor = 1): number {
  return Math.ceil(weightOf(text) * factor);
}

/** The estimate before it is corrected for a model and rounded. */
function weightOf(text: string): number {
  let dense = 0;
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) >= FIRST_DENSE_CODE) dense += 1;
  return dense + (text.length - dense) / CHARS_PER_TOKEN;
}

/**
 * Estimates for things that are asked about again and again while a prompt is made (its messages, the tools declared
 * with it): the text of each is read once.
 * @param textOf what the model reads of a thing; it must not change while the thing lives
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
