import { got } from 'got';
import type { RunningService } from '../../src/service/start-service.ts';
import { API_KEY, type JsonAnswer } from './support.ts';

export interface Chunk {
  id: string;
  object: string;
  created: number;
  model: string;
  choices: {
    delta: {
      content?: string | null;
      reasoning_content?: string;
      tool_calls?: { id?: string; function: { name?: string; arguments?: string } }[];
    };
    finish_reason?: string;
  }[];
  usage?: object;
}

/** Sends a request for a complete (not streamed) reply. */
export async function askChat(service: RunningService, json: object, key = API_KEY): Promise<JsonAnswer> {
  return postRaw(service, JSON.stringify(json), { authorization: `Bearer ${key}` });
}

/** Posts raw bytes; undefined headers are left out. */
export async function postRaw(
  service: RunningService,
  body: string | Buffer,
  headers: Record<string, string | undefined> = {},
): Promise<JsonAnswer> {
  const answer = await got.post(`${service.url}/v1/chat/completions`, {
    body,
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json', ...headers },
    throwHttpErrors: false,
    retry: { limit: 0 },
  });
  return {
    status: answer.statusCode,
    headers: answer.headers,
    body: JSON.parse(answer.body) as Record<string, unknown>,
  };
}

/** Sends a request for a streamed reply and reads it to its end. */
export async function streamChat(service: RunningService, json: object): Promise<{ chunks: Chunk[]; lines: string[] }> {
  const headers = { authorization: `Bearer ${API_KEY}` };
  const text = await got
    .post(`${service.url}/v1/chat/completions`, { json: { ...json, stream: true }, headers, retry: { limit: 0 } })
    .text();
  const lines = text.split('\n').filter((line) => line !== '');
  const chunks = lines
    .filter((line) => line !== 'data: [DONE]')
    .map((line) => JSON.parse(line.replace(/^data: /, '')) as Chunk);
  return { chunks, lines };
}

/** The text of a complete reply. */
export function contentOf({ body }: JsonAnswer): string {
  return (body.choices as [{ message: { content: string } }])[0].message.content;
}
