/** The languages that every text for people exists in. */
export type Language = 'en' | 'zh';

/** One text in both languages; the compiler refuses a text that lacks one. */
export type Bilingual = Readonly<Record<Language, string>>;

/** A room's catalogue of texts. Placeholders are `{name}`. */
export type Catalogue<Key extends string> = Readonly<Record<Key, Bilingual>>;

/** Fills a text's `{name}` placeholders; a value that is missing leaves the placeholder standing, which a test would show. */
export function say(text: Bilingual, language: Language, values: Readonly<Record<string, string | number>> = {}): string {
  return text[language].replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

/** The language of an `Accept-Language` header; English unless Chinese is preferred. */
export function languageOfHeader(header: string | undefined): Language {
  const first = (header ?? '').split(',').find((part) => /^\s*(zh|en)\b/i.test(part));
  return first && /^\s*zh/i.test(first) ? 'zh' : 'en';
}

/** The language that a person writes in: Chinese as soon as a Han character occurs. */
export function languageOfText(text: string): Language {
  return /\p{Script=Han}/u.test(text) ? 'zh' : 'en';
}
