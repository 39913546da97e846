import { AsyncLocalStorage } from 'node:async_hooks';

const traces = new AsyncLocalStorage<string>();

/**
 * Does work of which every log line carries one id, from where a message is taken in to the call of the chat service. It is the
 * message's delivery id, so that it stands in no record of its own: receiver and worker both know it, and it names no person.
 */
export function traced<Result>(id: string, work: () => Result): Result {
  return traces.run(id, work);
}

/** The id of what is being done; undefined outside of it. */
export function currentTrace(): string | undefined {
  return traces.getStore();
}
