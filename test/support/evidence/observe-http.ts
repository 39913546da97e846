import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { afterAll } from '@jest/globals';
import { keepEvidence } from './evidence.ts';
import { harvestAnswer, harvestRequest } from './harvest.ts';

/**
 * Observes all HTTP of a test file's process through Node's diagnostics channels: stores pages and metrics as evidence and
 * registers secrets, for any client and server. Runs before each test file (jest.config.js).
 */
const MAX_KEPT_CHARS = 4 * 1_048_576;

const CHANNELS = {
  'http.server.request.start': (message: unknown) => watchServer(message as ServerSide),
  'http.client.response.finish': (message: unknown) => watchClient(message as ClientSide),
};

if (process.env['PARLEY_EVIDENCE_DIR'] !== undefined) {
  for (const [channel, watch] of Object.entries(CHANNELS)) subscribe(channel, watch);
  afterAll(() => {
    for (const [channel, watch] of Object.entries(CHANNELS)) unsubscribe(channel, watch);
  });
}

interface ServerSide {
  request: IncomingMessage;
  response: ServerResponse;
}

interface ClientSide {
  request: ClientRequest;
  response: IncomingMessage;
}

function watchServer({ request, response }: ServerSide): void {
  const asked = collect(request, 'push');
  const written = collect(response, 'write');
  const ended = collect(response, 'end');
  response.once('close', () => {
    const { url, headers } = request;
    harvestRequest({ url, headers, body: asked() });
    const answer = { headers: textHeaders(response.getHeaders()), body: written() + ended() };
    answered(url ?? '', response.statusCode, answer);
  });
}

/** Responses of other processes are observed at the client. */
function watchClient({ request, response }: ClientSide): void {
  const read = collect(response, 'push');
  response.once('close', () => {
    harvestRequest({ url: request.path, headers: textHeaders(request.getHeaders()), body: '' });
    answered(request.path, response.statusCode ?? 0, { headers: response.headers, body: read() });
  });
}

function answered(url: string, status: number, answer: { headers: IncomingMessage['headers']; body: string }): void {
  harvestAnswer(answer);
  const isPage = answer.headers['content-type']?.includes('html') === true && !isRedirect(status);
  if (url === '/metrics') keepEvidence('metrics', answer.body);
  else if (isPage) keepEvidence('pages', answer.body);
}

/** A redirect's body, which repeats the address of its header, is not displayed. */
function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}

/** Intercepts a method that receives the chunks of a body. @returns a function with the text so far */
function collect(target: object, method: 'push' | 'write' | 'end'): () => string {
  const pieces: Buffer[] = [];
  let chars = 0;
  const methods = target as Record<typeof method, (...args: unknown[]) => unknown>;
  const original = methods[method];
  methods[method] = function (this: unknown, ...args: unknown[]) {
    const [piece] = args;
    if ((typeof piece === 'string' || piece instanceof Uint8Array) && chars < MAX_KEPT_CHARS) {
      pieces.push(Buffer.from(piece));
      chars += piece.length;
    }
    return original.apply(this, args);
  };
  return () => Buffer.concat(pieces).toString('utf8');
}

function textHeaders(headers: OutgoingHttpHeaders): IncomingMessage['headers'] {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === 'number' ? String(value) : value]),
  );
}
