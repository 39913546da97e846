/** HTML that is safe to send: created only by `html` and `trustedHtml`. */
export class SafeHtml {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  toString(): string {
    return this.text;
  }
}

type HtmlValue = SafeHtml | string | number | false | null | undefined | readonly HtmlValue[];

/** Template tag that escapes every value except safe HTML. Lists are joined, empty values are omitted. */
export function html(strings: TemplateStringsArray, ...values: HtmlValue[]): SafeHtml {
  return new SafeHtml(
    strings.reduce((whole, string, index) => whole + string + (index < values.length ? write(values[index]) : ''), ''),
  );
}

/** Marks our own text (a style sheet, rendered markdown without HTML) as safe HTML. Never for external text. */
export function trustedHtml(text: string): SafeHtml {
  return new SafeHtml(text);
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function write(value: HtmlValue): string {
  if (value === false || value === null || value === undefined) return '';
  if (value instanceof SafeHtml) return value.text;
  if (typeof value === 'object') return value.map(write).join('');
  return String(value).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** Control, bidirectional, zero-width and tag characters, which could disguise a name on a page (SECURITY.md named-before-consent). */
const DISGUISING = /[\p{Cc}\p{Cf}\u{E0000}-\u{E007F}\u2028\u2029]/gu;
const MAX_NAME_CHARS = 64;

/** Sanitizes the name of a person or chat for a page or a prompt: no disguising characters, at most 64 characters. */
export function plainName(name: string): string {
  return [...name.replace(DISGUISING, '').trim()].slice(0, MAX_NAME_CHARS).join('');
}
