import type { ServerResponse } from 'node:http';
import type { SeededRandom } from '../test/support/seeded-random.ts';

/** Event stream of one answer, in the dialect of an engine. */
export interface EngineStream {
  write(content: string): void;
  /** The engine reports a normal end. */
  end(): void;
  /** The engine fails midway, and reports it in the stream. */
  fail(): void;
}

/** Marker in the model's reasoning, which must never appear in an answer. */
export const THOUGHT = 'THOUGHT-OF-THE-MODEL';

/** Lines and events without content between two meaningful ones. */
const NOISE = [
  ': keep-alive',
  'data: null',
  'data: ping',
  'event: ping\ndata: {}',
  'data: {"choices":[]}',
  'retry: 3000',
  'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":null},"finish_reason":null}]}',
] as const;
const CLOSINGS = ['data: [DONE]\n\n', 'data: [DONE] \n\n', 'data:[DONE]\n\n', ''] as const;
const USAGE = 'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}\n\n';
const FAILURES: readonly [object, ...object[]] = [
  { object: 'error', message: 'CUDA out of memory', type: 'InternalServerError', code: 500 },
  { error: { message: 'The engine was restarted', type: 'server_error' } },
  { error: 'upstream connect error' },
];

/** @param isOdd whether the dialect is random; otherwise it is the reference */
export function openEngineStream(response: ServerResponse, random: SeededRandom, isOdd: boolean): EngineStream {
  const dialect = {
    contentType: isOdd && random.oneIn(4) ? 'application/json' : 'text/event-stream',
    lineEnd: isOdd && random.oneIn(4) ? '\r\n' : '\n',
    isNoisy: isOdd && random.oneIn(2),
    isTorn: isOdd && random.oneIn(4),
    thinks: isOdd ? random.pick(['not', 'not', 'in a field', 'in tags'] as const) : 'not',
    closing: isOdd ? random.pick(CLOSINGS) : CLOSINGS[0],
    tellsUsage: isOdd && random.oneIn(3),
  };
  const send = (text: string) => {
    const bytes = Buffer.from(text.replaceAll('\n', dialect.lineEnd));
    const cut = dialect.isTorn ? random.integer(0, bytes.length) : bytes.length;
    for (const part of [bytes.subarray(0, cut), bytes.subarray(cut)]) if (part.length > 0) response.write(part);
  };
  const write = (delta: object, reason: string | null = null) => {
    if (dialect.isNoisy && random.oneIn(3)) send(`${random.pick(NOISE)}\n\n`);
    send(chunkOf(delta, reason));
  };
  response.writeHead(200, { 'content-type': dialect.contentType });
  if (dialect.thinks === 'in a field') write({ reasoning_content: `${THOUGHT} ` });
  if (dialect.thinks === 'in tags')
    for (const part of ['<thi', `nk>${THOUGHT}`, '</th', 'ink>\n\n']) write({ content: part });
  return {
    write: (content) => write({ content }),
    end() {
      write({}, 'stop');
      if (dialect.tellsUsage) send(USAGE);
      send(dialect.closing);
      response.end();
    },
    fail() {
      send(`data: ${JSON.stringify(random.pick(FAILURES))}\n\ndata: [DONE]\n\n`);
      response.end();
    },
  };
}

function chunkOf(delta: object, reason: string | null): string {
  const choices = [{ index: 0, delta, finish_reason: reason }];
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'svc-plus', choices })}\n\n`;
}
