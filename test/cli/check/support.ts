import { listen, type ListeningServer } from '../../../src/shared/http/http-server.ts';
import type { CheckResult } from '../../../src/bot/platforms/platform.ts';

export interface SeenRequest {
  method: string;
  url: string;
  authorization: string | undefined;
  body: string;
}

/** The response of an address: a status, optionally with a body. */
export type Answers = Record<string, number | [status: number, body: object | string]>;

/** A small server that answers by path and records its requests. Unknown paths are 404. */
export async function answering(answers: Answers): Promise<ListeningServer & { seen: SeenRequest[] }> {
  const seen: SeenRequest[] = [];
  const server = await listen(
    (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method = '', url = '', headers } = request;
        seen.push({ method, url, authorization: headers.authorization, body: Buffer.concat(chunks).toString() });
        const told = answers[new URL(url, 'http://local').pathname] ?? 404;
        const [status, body] = typeof told === 'number' ? [told, ''] : told;
        response.statusCode = status;
        response.end(typeof body === 'string' ? body : JSON.stringify(body));
      });
    },
    0,
    '127.0.0.1',
  );
  return { ...server, seen };
}

/** The verdicts by name. */
export function verdicts(results: CheckResult[]): Record<string, string> {
  return Object.fromEntries(results.map(({ name, verdict }) => [name, verdict]));
}
