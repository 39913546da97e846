import type { Gathering } from '../text-collector.ts';

/** What is longer is more than one part of one name. */
const LONG_CHARS = 20_000;

/** Gathers blocks of a document under its headings: each heading begins a part of its name. */
export class Sections {
  readonly #gathering: Gathering;
  #heading: string | undefined;
  #text = '';
  #firstHeading: string | undefined;

  constructor(gathering: Gathering) {
    this.#gathering = gathering;
  }

  /** @returns the first heading of the document */
  get firstHeading(): string | undefined {
    return this.#firstHeading;
  }

  /** @param level from 1 on */
  heading(level: number, text: string): void {
    const words = text.trim();
    if (words === '') return;
    this.end();
    this.#heading = words;
    this.#firstHeading ??= words;
    this.#text = `${'#'.repeat(Math.min(Math.max(level, 1), 6))} ${words}`;
  }

  /** @param joint what stands between it and what came before */
  block(text: string, joint = '\n\n'): void {
    if (text.trim() === '') return;
    if (this.#text.length > LONG_CHARS) this.end();
    this.#text += this.#text === '' ? text : joint + text;
  }

  end(): void {
    this.#gathering.add(this.#text, this.#heading === undefined ? undefined : `section ${this.#heading}`);
    this.#text = '';
  }
}
