import type { MessengerEvent, StreamEvent } from '../api.ts';

/** Handlers of the page's event stream. */
export interface LiveEventHandlers {
  onEvent(event: MessengerEvent): void;
  /** The stream is connected, initially or again. `resumed`: no event was missed meanwhile. */
  onOpen(resumed: boolean): void;
  /** The stream is broken, or has been silent for too long. It reconnects automatically. */
  onLost(): void;
}

/** A record, so that the compiler requires every name. */
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
/** Three missing heartbeats: a suspended process keeps its connections open, so only silence reveals it. */
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
