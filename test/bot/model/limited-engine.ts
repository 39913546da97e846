import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chunk } from './scripted-chat-server.ts';

/** An engine that serves `limit` calls at once and refuses all others. */
export class LimitedEngine {
  limit: number;
  answerMs = 50;
  refusal: { status: number; headers: Record<string, string>; body: string } = { status: 429, headers: {}, body: '' };
  running = 0;
  peak = 0;
  served = 0;
  refused: number[] = [];
  /** Arrival times of all calls, accepted or not. */
  arrivals: number[] = [];
  baseUrl = '';
  readonly #server = createServer((request, response) => {
    request.resume().once('end', () => this.#answer(response));
  });

  constructor(limit: number) {
    this.limit = limit;
  }

  async start(port = 0): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve));
    this.baseUrl = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
    return this;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer(response: ServerResponse): void {
    this.arrivals.push(performance.now());
    if (this.running >= this.limit) {
      this.refused.push(performance.now());
      response.writeHead(this.refusal.status, this.refusal.headers).end(this.refusal.body);
      return;
    }
    this.running += 1;
    this.peak = Math.max(this.peak, this.running);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    const timer = setTimeout(() => {
      this.served += 1;
      response.end(`${chunk({ content: 'ok' }, 'stop')}data: [DONE]\n\n`);
    }, this.answerMs);
    response.once('close', () => {
      clearTimeout(timer);
      this.running -= 1;
    });
  }
}
