import type { MessengerEvent, StreamEvent } from '../api.ts';

/** Whom the page's event stream tells. */
export interface LiveEventHandlers {
  onEvent(event: MessengerEvent): void;
  /** The stream is there, from the start or again. `resumed`: no event was missed meanwhile. */
  onOpen(resumed: boolean): void;
  /** The stream broke, or is silent though the server should be heard every few seconds. It is opened again by itself. */
  onLost(): void;
}

/** As a record, so that no name can be forgotten. */
const EVENT_NAMES: Readonly<Record<MessengerEvent['name'], true>> = {
  message: true,
  gone: true,
  conversation: true,
  frame: true,
  status: true,
  bot: true,
  worker: true,
  stop: true,
};
const REOPEN_AFTER_MS = 1_000;
/** Three beats of the server: a process that stands still keeps its connections, so only its silence tells. */
const SILENCE_MS = 9_000;
const LISTEN_EVERY_MS = 1_000;

/** Follows GET /api/people/:person/events until the returned function is called. */
export function followEvents(person: string, handlers: LiveEventHandlers): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let lastId = '';
  let heardAtMs = performance.now();

  const lose = () => {
    source?.close();
    source = undefined;
    handlers.onLost();
    timer = setTimeout(open, REOPEN_AFTER_MS);
  };
  const open = () => {
    const after = lastId === '' ? '' : `?after=${encodeURIComponent(lastId)}`;
    const current = new EventSource(`/api/people/${encodeURIComponent(person)}/events${after}`);
    source = current;
    heardAtMs = performance.now();
    const listen = (name: (MessengerEvent | StreamEvent)['name'], take: (data: unknown) => void) =>
      current.addEventListener(name, (event) => {
        const { data, lastEventId } = event as MessageEvent<string>;
        heardAtMs = performance.now();
        if (lastEventId !== '') lastId = lastEventId;
        take(JSON.parse(data));
      });
    current.onerror = lose;
    listen('beat', () => undefined);
    listen('hello', (data) => handlers.onOpen((data as { resumed: boolean }).resumed));
    for (const name of Object.keys(EVENT_NAMES) as MessengerEvent['name'][])
      listen(name, (data) => handlers.onEvent({ name, data } as MessengerEvent));
  };
  const watch = setInterval(() => {
    if (source !== undefined && performance.now() - heardAtMs > SILENCE_MS) lose();
  }, LISTEN_EVERY_MS);
  open();
  return () => {
    clearInterval(watch);
    clearTimeout(timer);
    source?.close();
  };
}
