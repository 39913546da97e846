import type { TextCollector } from '../text-collector.ts';

/** Longer sections are split into several parts with the same label. */
const LONG_CHARS = 20_000;

/** Groups the blocks of a document by heading. Each heading starts a part that is labelled with it. */
export class Sections {
  readonly #gathering: TextCollector;
  #heading: string | undefined;
  #text = '';
  #topHeading: string | undefined;
  #openingHeading: string | undefined;
  #isEmpty = true;

  constructor(gathering: TextCollector) {
    this.#gathering = gathering;
  }

  /** The first heading of the top level. */
  get topHeading(): string | undefined {
    return this.#topHeading;
  }

  /** The heading of the top level with which the document begins. */
  get openingHeading(): string | undefined {
    return this.#openingHeading;
  }

  /** @param level 1-based */
  heading(level: number, text: string): void {
    const words = text.trim();
    if (words === '') return;
    this.end();
    this.#heading = words;
    if (level === 1) {
      this.#topHeading ??= words;
      if (this.#isEmpty) this.#openingHeading = words;
    }
    this.#isEmpty = false;
    this.#text = `${'#'.repeat(Math.min(Math.max(level, 1), 6))} ${words}`;
  }

  /** @param joint separator before the block */
  block(text: string, joint = '\n\n'): void {
    if (text.trim() === '') return;
    this.#isEmpty = false;
    if (this.#text.length > LONG_CHARS) this.end();
    this.#text += this.#text === '' ? text : joint + text;
  }

  end(): void {
    this.#gathering.add(this.#text, this.#heading === undefined ? undefined : `section ${this.#heading}`);
    this.#text = '';
  }
}
