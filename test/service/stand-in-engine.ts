import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request to the engine. */
export interface EngineRequest {
  body: Record<string, unknown>;
  authorization: string | undefined;
  socketPort: number | undefined;
  /** When the connection was dropped or the answer had ended. */
  closed: Promise<number>;
}

export interface StandInEngine {
  url: string;
  requests: EngineRequest[];
  stop(): Promise<void>;
}

/** A real HTTP engine that answers as scripted by the test. */
export async function startEngine(answer: (response: ServerResponse) => void): Promise<StandInEngine> {
  const requests: EngineRequest[] = [];
  const server = createServer((message: IncomingMessage, response: ServerResponse) => {
    const parts: Buffer[] = [];
    const closed = once(response, 'close').then(() => performance.now());
    message.on('data', (part: Buffer) => parts.push(part));
    message.on('end', () => {
      const body = JSON.parse(Buffer.concat(parts).toString()) as Record<string, unknown>;
      const { authorization } = message.headers;
      requests.push({ body, authorization, socketPort: message.socket.remotePort, closed });
      answer(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    stop() {
      server.closeAllConnections();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
}

/** The text of one event in vLLM's format. */
export function engineChunk(delta: object, finishReason: string | null = null, others: object = {}): string {
  const choice = { index: 0, delta, finish_reason: finishReason };
  const reply = { id: 'e1', object: 'chat.completion.chunk', created: 1, model: 'qwen3:8b', choices: [choice] };
  return `data: ${JSON.stringify({ ...reply, ...others })}\n\n`;
}

/** A complete reply. */
export function engineReply(message: object, others: object = {}): object {
  const choice = { index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' };
  return { id: 'e1', object: 'chat.completion', created: 1, model: 'qwen3:8b', choices: [choice], ...others };
}

export const DONE = 'data: [DONE]\n\n';

/** Begins a 200 response. */
export function begin(response: ServerResponse, contentType = 'text/event-stream'): ServerResponse {
  return response.writeHead(200, { 'content-type': contentType });
}

/** A 200 response with all parts at once. */
export function stream(...pieces: string[]): (response: ServerResponse) => void {
  return (response) => void begin(response).end(pieces.join(''));
}
