import type { TextCollector } from '../text-collector.ts';

/** Longer sections are split into several parts with the same label. */
const LONG_CHARS = 20_000;

/** Groups the blocks of a document by heading. Each heading starts a part that is labelled with it. */
export class Sections {
  readonly #gathering: TextCollector;
  #heading: string | undefined;
  #text = '';
  #firstHeading: string | undefined;

  constructor(gathering: TextCollector) {
    this.#gathering = gathering;
  }

  /** @returns the first heading of the document */
  get firstHeading(): string | undefined {
    return this.#firstHeading;
  }

  /** @param level 1-based */
  heading(level: number, text: string): void {
    const words = text.trim();
    if (words === '') return;
    this.end();
    this.#heading = words;
    this.#firstHeading ??= words;
    this.#text = `${'#'.repeat(Math.min(Math.max(level, 1), 6))} ${words}`;
  }

  /** @param joint separator before the block */
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
