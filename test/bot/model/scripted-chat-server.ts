import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface ReceivedCall {
  path: string;
  authorization: string | undefined;
  headers: IncomingHttpHeaders;
  /** Value of the `x-request-id` header. */
  requestId: string | undefined;
  body: Record<string, unknown>;
  /** Number of the connection, counted from 1. */
  connection: number;
  /** Resolves once the connection has closed or the response has been sent. */
  closed: Promise<'cut' | 'sent'>;
}

export type Answer = (response: ServerResponse, call: ReceivedCall) => void | Promise<void>;

export interface ScriptedChatServer {
  /** `http://127.0.0.1:PORT/v1` */
  baseUrl: string;
  calls: ReceivedCall[];
  /** The next answers in order; the last one repeats. */
  script(...answers: Answer[]): void;
  stop(): Promise<void>;
}

const MODELS = JSON.stringify({ object: 'list', data: ['svc-plus', 'svc-max'].map((id) => ({ id })) });

/**
 * A scripted chat service over real HTTP. The bot requests the model list at its start, which does not count as a call.
 * @param hasList whether the server answers that request by itself
 */
export async function startScriptedChatServer(hasList = true): Promise<ScriptedChatServer> {
  const calls: ReceivedCall[] = [];
  const connections = new Map<Socket, number>();
  let answers: Answer[] = [];
  const server = createServer((request, response) => {
    void receive(request, response).catch(() => response.destroy());
  });
  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const closed = new Promise<'cut' | 'sent'>((resolve) =>
      response.once('close', () => resolve(response.writableFinished ? 'sent' : 'cut')),
    );
    const { socket } = request;
    if (!connections.has(socket)) connections.set(socket, connections.size + 1);
    if (hasList && request.url?.endsWith('/models')) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(MODELS);
      return;
    }
    const pieces: Buffer[] = [];
    for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
    const text = Buffer.concat(pieces).toString('utf8');
    const call: ReceivedCall = {
      path: request.url ?? '',
      authorization: request.headers.authorization,
      headers: request.headers,
      requestId: request.headers['x-request-id']?.toString(),
      body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
      connection: connections.get(socket) ?? 0,
      closed,
    };
    calls.push(call);
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    await answer?.(response, call);
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    calls,
    script(...next) {
      answers = next;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Answers with an event stream of these pieces, each written separately, and ends it. */
export function streamOf(...pieces: (string | Buffer)[]): Answer {
  return async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    for (const piece of pieces) {
      response.write(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
  };
}

/** Writes these bytes as an event stream and then breaks the connection. */
export function cutAfter(bytes: Buffer): Answer {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(bytes, () => setImmediate(() => response.socket?.destroy()));
  };
}

/** Writes this text as an event stream and then nothing more. */
export function stallAfter(text: string): Answer {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    if (text !== '') response.write(text);
  };
}

export function statusOf(status: number, headers: Record<string, string> = {}, body = ''): Answer {
  return (response) => {
    response.writeHead(status, headers).end(body);
  };
}

export function jsonOf(value: unknown, status = 200): Answer {
  return statusOf(status, { 'content-type': 'application/json' }, JSON.stringify(value));
}

/** One server-sent event. */
export function sse(value: unknown): string {
  return `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;
}

/** One chunk with a delta, as the chat interface specifies. */
export function chunk(delta: Record<string, unknown>, finishReason?: string): string {
  const choice = { index: 0, delta, ...(finishReason === undefined ? {} : { finish_reason: finishReason }) };
  return sse({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'svc-plus', choices: [choice] });
}

/** A short complete answer. */
export function helloStream(text = 'hello'): Answer {
  return streamOf(chunk({ role: 'assistant', content: '' }), chunk({ content: text }, 'stop'), sse('[DONE]'));
}

/** A short complete answer with token usage. */
export function countedStream(text: string, promptTokens: number, completionTokens: number): Answer {
  const usage = { prompt_tokens: promptTokens, completion_tokens: completionTokens };
  return streamOf(
    chunk({ content: text }, 'stop'),
    sse({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'svc-plus', choices: [], usage }),
    sse('[DONE]'),
  );
}
