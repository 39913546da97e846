import type { MessengerEvent } from './api.ts';

/** Maximum number of objects whose newest state is kept. */
const MAX_OBJECTS = 300;

/**
 * Recent events for one person. Each event contains a complete state, so only the newest event per object is kept: an answer
 * that grew a hundred times counts once.
 */
export class RecentEvents {
  /** In order of their numbers. */
  readonly #newest = new Map<string, [number: number, event: MessengerEvent]>();
  /** Events up to this number are incomplete. */
  #forgottenUpTo: number;

  constructor(startsAfter: number) {
    this.#forgottenUpTo = startsAfter;
  }

  add(number: number, event: MessengerEvent): void {
    const thing = objectKeyOf(event);
    this.#newest.delete(thing);
    this.#newest.set(thing, [number, event]);
    const [oldest] = this.#newest;
    if (oldest === undefined || this.#newest.size <= MAX_OBJECTS) return;
    this.#newest.delete(oldest[0]);
    this.#forgottenUpTo = oldest[1][0];
  }

  /** Events after a number, oldest first; undefined if some of them were dropped, and for NaN. */
  since(number: number): [number: number, event: MessengerEvent][] | undefined {
    if (!(number >= this.#forgottenUpTo)) return undefined;
    return [...this.#newest.values()].filter(([one]) => one > number);
  }
}

function objectKeyOf({ name, data }: MessengerEvent): string {
  if (name === 'bot' || name === 'worker' || name === 'stop') return name;
  return `${name} ${name === 'status' ? data.conversationId : data.id}`;
}
