const IMAGE = /!\[[^[\]]*\]\([^()]*\)/g;
const LINK = /\[([^[\]]*)\]\([^()]*\)/g;
/** Pictographs with their modifiers. Signs such as © are text. */
const EMOJI = /(?![©®™])\p{Extended_Pictographic}[\ufe0f\u200d\u{1f3fb}-\u{1f3ff}]{0,3}/gu;

/** A document's title as plain text: without emoji and images, and with the text of links. Undefined if nothing is left. */
export function plainTitle(title: string | undefined): string | undefined {
  const plain = title?.replace(IMAGE, '').replace(LINK, '$1').replace(EMOJI, '').replace(/\s+/g, ' ').trim();
  return plain === '' ? undefined : plain;
}
