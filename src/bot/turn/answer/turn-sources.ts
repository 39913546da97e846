import type { ChatMessage } from '../../model/chat-types.ts';
import type { CitedSource } from '../conversation/history.ts';
import { SUMMARY_RULES } from '../conversation/label-text.ts';
import type { Citable } from '../../tools/tool.ts';
import { CitationMarks } from './citation-marks.ts';

const NUMBER = /\[\^?(\d{1,3})\]/g;

/**
 * What a turn's tools retrieved that an answer may cite, numbered from 1 on. A number that was not retrieved stays in the answer only
 * where a person wrote it (their own list of references).
 */
export class TurnSources {
  readonly marks = new CitationMarks((number) => this.#found.has(number) || this.#written.has(number));
  readonly #found = new Map<number, Citable>();
  readonly #numbers = new Map<string, number>();
  readonly #written = new Set<number>();

  /** Numbers what was found; the same document has one number, however often it is found. */
  cite(found: Citable): number {
    const key = JSON.stringify([found.source, found.documentId]);
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const number = this.#found.size + 1;
    this.#numbers.set(key, number);
    this.#found.set(number, found);
    return number;
  }

  /** Numbers in brackets that people wrote are theirs; a summary is the model's words. */
  heard(messages: readonly ChatMessage[]): void {
    for (const { role, content } of messages) {
      if (role !== 'user' || isSummary(content)) continue;
      const texts =
        typeof content === 'string' ? [content] : content.map((part) => (part.type === 'text' ? part.text : ''));
      for (const text of texts) for (const [, number] of text.matchAll(NUMBER)) this.#written.add(Number(number));
    }
  }

  /** All that was found, in the order of the numbers; what the answer cites is marked. */
  get all(): CitedSource[] {
    return [...this.#found].map(([number, { source, title, url, date }]) => ({
      ...{ number, source, title, url, date },
      isCited: this.marks.cited.has(number) ? true : undefined,
    }));
  }
}

/** A summary is written by the model, although the prompt holds it as a person's message. */
export function isSummary(content: ChatMessage['content']): boolean {
  return typeof content === 'string' && content.startsWith(SUMMARY_RULES);
}
