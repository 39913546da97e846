/** The part of a growing text that will not change any more, and its rendered form. */
export interface SettledText {
  source: string;
  shown: string;
}

const KEY_CHARS = 48;
const MAX_TEXTS = 512;

/**
 * Caches the rendered beginnings of growing texts, so that each snapshot parses only new text. Entries are looked up by the
 * text itself, so a wrong entry is never used; a missing entry only costs time.
 */
export class SettledTextCache {
  readonly #texts = new Map<string, SettledText>();

  /** The longest cached beginning of a text; empty if there is none. */
  of(text: string): SettledText {
    const settled = this.#texts.get(text.slice(0, KEY_CHARS));
    return settled && text.startsWith(settled.source) ? settled : { source: '', shown: '' };
  }

  /** Caches a beginning until newer texts displace it. Short beginnings are not cached. */
  remember(settled: SettledText): void {
    if (settled.source.length < KEY_CHARS) return;
    const key = settled.source.slice(0, KEY_CHARS);
    this.#texts.delete(key);
    this.#texts.set(key, settled);
    const oldest = this.#texts.size > MAX_TEXTS ? this.#texts.keys().next().value : undefined;
    if (oldest !== undefined) this.#texts.delete(oldest);
  }

  /** Removes the entry of a text that has ended. */
  forget(text: string): void {
    this.#texts.delete(text.slice(0, KEY_CHARS));
  }
}
