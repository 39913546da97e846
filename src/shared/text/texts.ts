/** The languages that every text for people exists in. */
export type Language = 'en' | 'zh';

/** One text in both languages; the compiler refuses a text that lacks one. */
export type Bilingual = Readonly<Record<Language, string>>;

/** A room's catalogue of texts. Placeholders are `{name}`. */
export type Catalogue<Key extends string> = Readonly<Record<Key, Bilingual>>;

/**
 * Fills a text's `{name}` placeholders; a value that is missing leaves the placeholder standing, which a test would show.
 * `{count:question|questions}` is the first word when `count` is 1, else the second.
 */
export function say(
  text: Bilingual,
  language: Language,
  values: Readonly<Record<string, string | number>> = {},
): string {
  return text[language].replace(
    /\{(\w+)(?::([^{}|]*)\|([^{}|]*))?\}/g,
    (whole, name: string, one?: string, many?: string) => {
      if (!Object.hasOwn(values, name)) return whole;
      if (one === undefined || many === undefined) return String(values[name]);
      return Number(values[name]) === 1 ? one : many;
    },
  );
}

const WORD = /\/([a-z]+)\b/g;

/** A text that names the bot's words without their slash. In code the word stands as it is; elsewhere its reader has to see where it begins and ends. */
export function withoutSlashes(text: string): string {
  return text
    .split('`')
    .map((piece, index) => piece.replace(WORD, (_, word: string) => (index % 2 === 1 ? word : `“${word}”`)))
    .join('`');
}

const MAX_HEADER_CHARS = 256;

/** The language of an `Accept-Language` header (RFC 9110 section 12.5.4); English unless Chinese is preferred. */
export function languageOfHeader(header: string | undefined): Language {
  let preferred: Language = 'en';
  let highest = 0;
  for (const part of (header ?? '').slice(0, MAX_HEADER_CHARS).split(',')) {
    const range = /^\s*(?<language>zh|en)(?:-[\w-]*)?\s*(?:;\s*q=(?<quality>[\d.]+)\s*)?$/i.exec(part)?.groups;
    const quality = range ? Number(range['quality'] ?? 1) : 0;
    if (!(quality > highest)) continue;
    highest = quality;
    preferred = range?.['language']?.toLowerCase() === 'zh' ? 'zh' : 'en';
  }
  return preferred;
}

/** The language that a person writes in: Chinese as soon as a Han character occurs. */
export function languageOfText(text: string): Language {
  return /\p{Script=Han}/u.test(text) ? 'zh' : 'en';
}
