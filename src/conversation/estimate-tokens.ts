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
  let dense = 0;
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) >= FIRST_DENSE_CODE) dense += 1;
  return Math.ceil((dense + (text.length - dense) / CHARS_PER_TOKEN) * factor);
}
