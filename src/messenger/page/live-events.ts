import type { MessengerEvent } from '../api.ts';

/** Whom the page's event stream tells. */
export interface LiveEventHandlers {
  onEvent(event: MessengerEvent): void;
  /** `up` is true each time the stream opens: what was missed before must then be fetched. */
  onConnection(up: boolean): void;
}

/** As a record, so that no name can be forgotten. */
const EVENT_NAMES: Readonly<Record<MessengerEvent['name'], true>> = {
  message: true,
  conversation: true,
  frame: true,
  status: true,
  bot: true,
};
/** The browser reconnects by itself unless the server refused the stream; then we do, at this pace. */
const REOPEN_AFTER_MS = 2_000;

/** Follows GET /api/people/:person/events until the returned function is called. */
export function followEvents(person: string, handlers: LiveEventHandlers): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const open = () => {
    const current = new EventSource(`/api/people/${encodeURIComponent(person)}/events`);
    source = current;
    current.onopen = () => handlers.onConnection(true);
    current.onerror = () => {
      handlers.onConnection(false);
      if (current.readyState !== EventSource.CLOSED) return;
      current.close();
      clearTimeout(timer);
      timer = setTimeout(open, REOPEN_AFTER_MS);
    };
    for (const name of Object.keys(EVENT_NAMES)) {
      current.addEventListener(name, (event) => {
        const data: unknown = JSON.parse((event as MessageEvent<string>).data);
        handlers.onEvent({ name, data } as MessengerEvent);
      });
    }
  };
  open();
  return () => {
    clearTimeout(timer);
    source?.close();
  };
}
