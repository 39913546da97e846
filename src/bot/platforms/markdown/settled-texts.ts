/** The part of a growing text that will not change any more, and how it is shown. */
export interface SettledText {
  source: string;
  shown: string;
}

const KEY_CHARS = 48;
const MOST_TEXTS = 512;

/**
 * Remembers how the beginnings of growing texts are shown, so that each snapshot reads only what is new. It is found again by the
 * text itself, so nothing is passed around and a wrong one is never taken; one that was forgotten costs only time.
 */
export class SettledTexts {
  readonly #texts = new Map<string, SettledText>();

  /** The longest remembered beginning of a text; empty where there is none. */
  of(text: string): SettledText {
    const settled = this.#texts.get(text.slice(0, KEY_CHARS));
    return settled && text.startsWith(settled.source) ? settled : { source: '', shown: '' };
  }

  /** Remembers a beginning, for as long as few others come. Short ones are not worth it. */
  remember(settled: SettledText): void {
    if (settled.source.length < KEY_CHARS) return;
    const key = settled.source.slice(0, KEY_CHARS);
    this.#texts.delete(key);
    this.#texts.set(key, settled);
    const oldest = this.#texts.size > MOST_TEXTS ? this.#texts.keys().next().value : undefined;
    if (oldest !== undefined) this.#texts.delete(oldest);
  }

  /** Forgets what is known of a text that has come to its end. */
  forget(text: string): void {
    this.#texts.delete(text.slice(0, KEY_CHARS));
  }
}
