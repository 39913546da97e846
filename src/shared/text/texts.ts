/** The languages of every user-facing text. */
export type Language = 'en' | 'zh';

/** One text in both languages; the compiler rejects a missing one. */
export type Bilingual = Readonly<Record<Language, string>>;

/** A module's catalog of texts. Placeholders are `{name}`. */
export type Catalogue<Key extends string> = Readonly<Record<Key, Bilingual>>;

/**
 * Fills a text's `{name}` placeholders. A placeholder without a value stays in the text, where tests find it.
 * `{count:question|questions}` is the first word if `count` is 1, otherwise the second.
 */
export function localize(
  text: Bilingual,
  language: Language,
  values: Readonly<Record<string, string | number>> = {},
): string {
  const written = text[language];
  if (!written.includes('{')) return written;
  return written.replace(/\{(\w+)(?::([^{}|]*)\|([^{}|]*))?\}/g, (whole, name: string, one?: string, many?: string) => {
    if (!Object.hasOwn(values, name)) return whole;
    if (one === undefined || many === undefined) return String(values[name]);
    return Number(values[name]) === 1 ? one : many;
  });
}

const WORD = /\/([a-z]+)\b/g;

/**
 * Removes the slashes from command names in a text. Names in code stay as they are; elsewhere they are quoted so that they
 * remain recognizable.
 */
export function withoutSlashes(text: string): string {
  return text
    .split('`')
    .map((piece, index) => piece.replace(WORD, (_, word: string) => (index % 2 === 1 ? word : `“${word}”`)))
    .join('`');
}

const MAX_HEADER_CHARS = 256;

/** Language for an `Accept-Language` header (RFC 9110 section 12.5.4); English unless Chinese is preferred. */
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

/** Language that a person writes in: Chinese if the text contains any Han character. */
export function languageOfText(text: string): Language {
  return /\p{Script=Han}/u.test(text) ? 'zh' : 'en';
}
