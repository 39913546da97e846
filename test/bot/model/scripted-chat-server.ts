import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface ReceivedCall {
  path: string;
  authorization: string | undefined;
  /** What the caller says that its request belongs to. */
  requestId: string | undefined;
  body: Record<string, unknown>;
  /** Which of the server's connections it came on, counted from 1. */
  connection: number;
  /** Resolves when the caller's connection is gone, or the answer has been sent. */
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
 * A chat service that says what a test tells it to, over real HTTP. A start of the bot asks it for its models, which is none of the
 * calls that a test looks at. @param hasList whether it answers that by itself
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

/** Answers with an event stream made of these pieces, each written by itself, and ends. */
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

/** Writes this much of a stream and then nothing more, for ever. */
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

/** One event of a stream. */
export function sse(value: unknown): string {
  return `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;
}

/** One chunk with a delta, as the chat interface describes it. */
export function chunk(delta: Record<string, unknown>, finishReason?: string): string {
  const choice = { index: 0, delta, ...(finishReason === undefined ? {} : { finish_reason: finishReason }) };
  return sse({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'svc-plus', choices: [choice] });
}

/** A short whole answer. */
export function helloStream(text = 'hello'): Answer {
  return streamOf(chunk({ role: 'assistant', content: '' }), chunk({ content: text }, 'stop'), sse('[DONE]'));
}

/** A short whole answer of which the service says what it cost. */
export function countedStream(text: string, promptTokens: number, completionTokens: number): Answer {
  const usage = { prompt_tokens: promptTokens, completion_tokens: completionTokens };
  return streamOf(
    chunk({ content: text }, 'stop'),
    sse({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'svc-plus', choices: [], usage }),
    sse('[DONE]'),
  );
}
