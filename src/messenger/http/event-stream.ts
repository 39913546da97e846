import { PassThrough } from 'node:stream';
import type { Context } from 'koa';
import { SECOND_MS } from '../../base/clock.ts';
import type { MessengerEvent } from '../api.ts';
import type { EventHub } from '../event-hub.ts';

const KEEP_ALIVE_MS = 15 * SECOND_MS;
const RECONNECT_MS = SECOND_MS;

export interface EventStreamOptions {
  hub: EventHub;
  personId: string;
  /** What a page that has just come must know. */
  first: MessengerEvent;
  signal: AbortSignal;
}

/** Sends a person's events to one open page until it goes or the messenger stops. */
export function streamEvents(context: Context, { hub, personId, first, signal }: EventStreamOptions): void {
  const stream = new PassThrough();
  const send = ({ name, data }: MessengerEvent) =>
    void stream.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  stream.write(`retry: ${RECONNECT_MS}\n\n`);
  send(first);
  const unsubscribe = hub.subscribe(personId, send);
  const keepAlive = setInterval(() => void stream.write(': still here\n\n'), KEEP_ALIVE_MS);
  const end = () => {
    clearInterval(keepAlive);
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
