import type { IncomingMessage } from 'node:http';
import { listen, type ListeningServer } from '../../../../src/shared/http/http-server.ts';

export interface ApiRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  json: Record<string, unknown>;
}

/**
 * The response of a path: a JSON object, raw bytes, a status without a body, no response (`hang`) or a closed connection
 * (`cut`).
 */
export type ApiAnswer = object | Buffer | number | 'hang' | 'cut';

type Responder = (request: ApiRequest) => ApiAnswer;

/** A small fake of WeCom's API. `gettoken` returns token-1, token-2 and so on; the other paths respond from `answers`. */
export interface FakeApi extends ListeningServer {
  requests: ApiRequest[];
  answers: Map<string, ApiAnswer | Responder>;
  calls(path: string): ApiRequest[];
}

export async function startFakeApi(): Promise<FakeApi> {
  const requests: ApiRequest[] = [];
  const answers: FakeApi['answers'] = new Map();
  let tokens = 0;
  answers.set('/cgi-bin/gettoken', () => ({ errcode: 0, access_token: `token-${(tokens += 1)}`, expires_in: 7_200 }));
  const server = await listen(
    (incoming, response) => {
      void readRequest(incoming).then((request) => {
        requests.push(request);
        const told = answers.get(request.path) ?? 404;
        const answer = typeof told === 'function' ? (told as Responder)(request) : told;
        if (answer === 'hang') return undefined;
        if (answer === 'cut') return void incoming.socket.destroy();
        response.statusCode = typeof answer === 'number' ? answer : 200;
        response.end(Buffer.isBuffer(answer) ? answer : typeof answer === 'object' ? JSON.stringify(answer) : '');
      });
    },
    0,
    '127.0.0.1',
  );
  return { ...server, requests, answers, calls: (path) => requests.filter((request) => request.path === path) };
}

async function readRequest(incoming: IncomingMessage): Promise<ApiRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  const url = new URL(incoming.url ?? '/', 'http://fake');
  const text = Buffer.concat(chunks).toString();
  const json = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
  return { method: incoming.method ?? '', path: url.pathname, query: url.searchParams, json };
}
