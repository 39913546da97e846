import { randomToken } from '../shared/crypto/ids.ts';
import type { MessengerEvent } from './api.ts';
import { RecentEvents } from './recent-events.ts';

/** @param id of the event within this run, for a page that reconnects */
export type EventListener = (event: MessengerEvent, id: string) => void;

/** Publishes events to each person's open pages (and waiting tests). */
export class EventHub {
  readonly #listeners = new Map<string, Set<EventListener>>();
  readonly #recent = new Map<string, RecentEvents>();
  /** Numbers of another run are invalid. */
  readonly #run = randomToken(6);
  #lastNumber = 0;

  /** @returns a function that ends the subscription */
  subscribe(personId: string, listener: EventListener): () => void {
    const listeners = this.#listeners.get(personId) ?? new Set();
    this.#listeners.set(personId, listeners.add(listener));
    if (!this.#recent.has(personId)) this.#recent.set(personId, new RecentEvents(this.#lastNumber));
    return () => void listeners.delete(listener);
  }

  publish(personId: string, event: MessengerEvent): void {
    this.#lastNumber += 1;
    this.#recent.get(personId)?.add(this.#lastNumber, event);
    const id = this.#idOf(this.#lastNumber);
    for (const listener of this.#listeners.get(personId) ?? []) listener(event, id);
  }

  publishToAll(event: MessengerEvent): void {
    for (const personId of this.#listeners.keys()) this.publish(personId, event);
  }

  /** Id of the newest event. */
  get lastId(): string {
    return this.#idOf(this.#lastNumber);
  }

  /**
   * Events for a person after a given one, with only the newest state of each object; undefined if they are no longer
   * available.
   */
  since(personId: string, id: string): { event: MessengerEvent; id: string }[] | undefined {
    const number = id.startsWith(`${this.#run}.`) ? Number(id.slice(this.#run.length + 1)) : Number.NaN;
    return this.#recent
      .get(personId)
      ?.since(number)
      ?.map(([one, event]) => ({ event, id: this.#idOf(one) }));
  }

  #idOf(number: number): string {
    return `${this.#run}.${number}`;
  }
}
