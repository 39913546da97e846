/**
 * Characters that are seen by nobody but change what is read: controls (but tab and line ends), bidirectional controls,
 * zero-width, soft-hyphen and tag characters. The joiner inside an emoji stays, since it makes one picture of several.
 */
const UNSEEN =
  /(?<![\p{Extended_Pictographic}\uFE0F\u{1F3FB}-\u{1F3FF}])\u200D|\u200D(?!\p{Extended_Pictographic})|[\u200B\u200C\u200E\u200F\u061C\u00AD\u180E\u202A-\u202E\u2060-\u206F\uFEFF\u{E0000}-\u{E007F}]|(?![\t\n\r])\p{Cc}/gu;

/** Texts without any of these have nothing unseen; looking for them is much quicker than taking them out. */
const MAY_BE_UNSEEN =
  /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\udb40]/;

/** A text without characters that disguise it (SECURITY.md honest-links). Doing it twice changes nothing more. */
export function withoutUnseen(text: string): string {
  return MAY_BE_UNSEEN.test(text) ? text.replace(UNSEEN, '') : text;
}

/** More marks than any script piles on a letter. To put them into their order takes time by the square of their number. */
const PILE_OF_MARKS = /(\p{M}{30})\p{M}+/gu;

/** A text in the form in which letters that look and mean the same are the same (NFKC); of a pile of marks the first ones stay. */
export function compatibleForm(text: string): string {
  return text.replace(PILE_OF_MARKS, '$1').normalize('NFKC');
}
