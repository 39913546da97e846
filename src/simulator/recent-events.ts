import type { MessengerEvent } from './api.ts';

/** Of so many things the newest state is kept. */
const MAX_THINGS = 300;

/**
 * What one person was told lately. Each event carries a whole state, so of each thing only its newest is kept: an answer that
 * grew a hundred times is one.
 */
export class RecentEvents {
  /** In the order of their numbers. */
  readonly #newest = new Map<string, [number: number, event: MessengerEvent]>();
  /** What was told up to this number is not all here. */
  #forgottenUpTo: number;

  constructor(startsAfter: number) {
    this.#forgottenUpTo = startsAfter;
  }

  add(number: number, event: MessengerEvent): void {
    const thing = thingOf(event);
    this.#newest.delete(thing);
    this.#newest.set(thing, [number, event]);
    const [oldest] = this.#newest;
    if (oldest === undefined || this.#newest.size <= MAX_THINGS) return;
    this.#newest.delete(oldest[0]);
    this.#forgottenUpTo = oldest[1][0];
  }

  /** What came after a number, oldest first; undefined when some of it is forgotten, and for what is no number. */
  since(number: number): [number: number, event: MessengerEvent][] | undefined {
    if (!(number >= this.#forgottenUpTo)) return undefined;
    return [...this.#newest.values()].filter(([one]) => one > number);
  }
}

function thingOf({ name, data }: MessengerEvent): string {
  if (name === 'bot' || name === 'worker' || name === 'stop') return name;
  return `${name} ${name === 'status' ? data.conversationId : data.id}`;
}
