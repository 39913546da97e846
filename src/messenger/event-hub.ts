import type { MessengerEvent } from './api.ts';

export type EventListener = (event: MessengerEvent) => void;

/** Hands events to the open pages (and waiting tests) of each person. */
export class EventHub {
  readonly #listeners = new Map<string, Set<EventListener>>();

  /** @returns a function that ends the subscription */
  subscribe(personId: string, listener: EventListener): () => void {
    const listeners = this.#listeners.get(personId) ?? new Set();
    this.#listeners.set(personId, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  publish(personId: string, event: MessengerEvent): void {
    for (const listener of this.#listeners.get(personId) ?? []) listener(event);
  }

  publishToAll(event: MessengerEvent): void {
    for (const personId of this.#listeners.keys()) this.publish(personId, event);
  }
}
