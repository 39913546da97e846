/**
 * Invisible characters that change how a text is read: controls (except tab and line ends), bidirectional controls,
 * zero-width, soft-hyphen and tag characters. The joiner inside an emoji stays, because it combines several into one
 * picture.
 */
const UNSEEN =
  /(?<![\p{Extended_Pictographic}\uFE0F\u{1F3FB}-\u{1F3FF}])\u200D|\u200D(?!\p{Extended_Pictographic})|[\u200B\u200C\u200E\u200F\u061C\u00AD\u180E\u202A-\u202E\u2060-\u206F\uFEFF\u{E0000}-\u{E007F}]|(?![\t\n\r])\p{Cc}/gu;

/** Quick check: a text without any of these contains no invisible characters. Testing is much faster than replacing. */
const MAY_BE_UNSEEN =
  /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\udb40]/;

/** Removes characters that disguise a text (SECURITY.md honest-links). Idempotent. */
export function stripInvisible(text: string): string {
  return MAY_BE_UNSEEN.test(text) ? text.replace(UNSEEN, '') : text;
}

/** More combining marks than any script uses on one letter. Normalizing their order takes quadratic time. */
const PILE_OF_MARKS = /(\p{M}{30})\p{M}+/gu;

/**
 * NFKC form of a text, in which equivalent letters are equal; of a long run of combining marks only the first ones are kept.
 */
export function compatibleForm(text: string): string {
  return text.replace(PILE_OF_MARKS, '$1').normalize('NFKC');
}
