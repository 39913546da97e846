import type { ChatMessage } from '../../model/chat-types.ts';
import type { CitedSource } from '../conversation/history.ts';
import { SUMMARY_RULES } from '../conversation/label-text.ts';
import type { Citable } from '../../tools/tool.ts';
import { CitationMarks } from './citation-marks.ts';

const NUMBER = /\[\^?(\d{1,3})\]/g;

/**
 * Citable sources retrieved by the tools of a turn, numbered from 1. A number that was not retrieved stays in the answer
 * only if a person wrote it (in a list of references).
 */
export class TurnSources {
  readonly marks = new CitationMarks((number) => this.#found.has(number) || this.#written.has(number));
  readonly #found = new Map<number, Citable>();
  readonly #numbers = new Map<string, number>();
  readonly #written = new Set<number>();
  #isSearched = false;

  /** Assigns a number to a source. The same document always has the same number. */
  cite(found: Citable): number {
    const key = JSON.stringify([found.source, found.documentId]);
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const number = this.#found.size + 1;
    this.#numbers.set(key, number);
    this.#found.set(number, found);
    return number;
  }

  /** Records bracketed numbers written by people. Summaries are excluded, because the model writes them. */
  heard(messages: readonly ChatMessage[]): void {
    for (const { role, content } of messages) {
      if (role !== 'user' || isSummary(content)) continue;
      const texts =
        typeof content === 'string' ? [content] : content.map((part) => (part.type === 'text' ? part.text : ''));
      for (const text of texts) for (const [, number] of text.matchAll(NUMBER)) this.#written.add(Number(number));
    }
  }

  /** The documents were searched for the answer. */
  noteSearch(): void {
    this.#isSearched = true;
  }

  /** Whether the documents were searched, and the answer cites none of them. */
  get isUnsourced(): boolean {
    return this.#isSearched && this.marks.cited.size === 0;
  }

  /** All sources in order of their numbers, with cited ones marked. */
  get all(): CitedSource[] {
    return [...this.#found].map(([number, { source, title, url, date }]) => ({
      ...{ number, source, title, url, date },
      isCited: this.marks.cited.has(number) ? true : undefined,
    }));
  }
}

/** The model writes summaries, although the prompt contains them in a user message. */
export function isSummary(content: ChatMessage['content']): boolean {
  return typeof content === 'string' && content.startsWith(SUMMARY_RULES);
}
