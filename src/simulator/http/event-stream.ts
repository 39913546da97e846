import { PassThrough } from 'node:stream';
import type { Context } from 'koa';
import { SECOND_MS } from '../../shared/clock.ts';
import type { MessengerEvent, StreamEvent } from '../api.ts';
import type { EventHub } from '../event-hub.ts';

const RECONNECT_MS = SECOND_MS;

export interface EventStreamOptions {
  hub: EventHub;
  personId: string;
  /** Initial state for a new page. */
  first: MessengerEvent;
  /** The last event that the page received, if it reconnects. */
  after: string | undefined;
  beatMs: number;
  signal: AbortSignal;
}

/** Sends a person's events to one open page until it disconnects or the messenger stops. */
export function streamEvents(context: Context, options: EventStreamOptions): void {
  const { hub, personId, first, after, beatMs, signal } = options;
  const stream = new PassThrough();
  const send = ({ name, data }: MessengerEvent | StreamEvent, id?: string) =>
    void stream.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n${id === undefined ? '' : `id: ${id}\n`}\n`);
  stream.write(`retry: ${RECONNECT_MS}\n\n`);
  const missed = after === undefined ? undefined : hub.since(personId, after);
  send({ name: 'hello', data: { resumed: missed !== undefined } }, missed ? after : hub.lastId);
  send(first);
  missed?.forEach(({ event, id }) => send(event, id));
  const unsubscribe = hub.subscribe(personId, send);
  const beating = setInterval(() => send({ name: 'beat', data: {} }), beatMs);
  const end = () => {
    clearInterval(beating);
    unsubscribe();
    signal.removeEventListener('abort', end);
    stream.end();
  };
  signal.addEventListener('abort', end);
  context.req.on('close', end);
  context.set('Cache-Control', 'no-store');
  context.set('X-Accel-Buffering', 'no');
  context.type = 'text/event-stream';
  context.body = stream;
}
