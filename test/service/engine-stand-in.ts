import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

interface EngineBody {
  messages: { role: string; content: unknown }[];
  stream: boolean;
  stream_options?: { include_usage: boolean };
  thinking?: { type: string };
  tools?: { function: { name: string } }[];
}

export interface EngineStandIn {
  url: string;
  /** Received request bodies, in order. */
  bodies: EngineBody[];
  /** Number of streams that are still open. */
  open: () => number;
  close: () => Promise<void>;
}

const USAGE = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
/** The engine's own ids and model name. The service replaces them by those of its interface. */
const HEAD = { id: 'engine-1', created: 1_800_000_000, model: 'engine-model' };
const CALL = { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Beijing"}' } };

/**
 * An OpenAI-compatible engine with a few fixed answers in the usual form: null for absent fields, reasoning in a separate
 * field.
 */
export async function startEngineStandIn(): Promise<EngineStandIn> {
  const bodies: EngineBody[] = [];
  let open = 0;
  const server = createServer((message, response) => {
    const parts: Buffer[] = [];
    message.on('data', (part: Buffer) => parts.push(part));
    message.on('end', () => {
      const body = JSON.parse(Buffer.concat(parts).toString()) as EngineBody;
      bodies.push(body);
      open += 1;
      response.on('close', () => (open -= 1));
      void (body.stream ? stream(response, body) : Promise.resolve(complete(response, body)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    bodies,
    open: () => open,
    close: () => new Promise((resolve) => (server.closeAllConnections(), server.close(() => resolve()))),
  };
}

function sayTo({ messages, tools }: EngineBody): { text: string; calls: (typeof CALL)[] } {
  const newest = messages.at(-1);
  const text = JSON.stringify(newest?.content);
  if (newest?.role === 'tool') return { text: `The tool says ${String(newest.content)}`, calls: [] };
  if (tools && text.includes('weather')) return { text: '', calls: [CALL] };
  if (text.includes('image_url')) return { text: 'An image of 3 × 2 pixels', calls: [] };
  const to = Number(/count to (\d+)/.exec(text)?.[1] ?? 3);
  return { text: Array.from({ length: to }, (_, index) => index + 1).join(' '), calls: [] };
}

function complete(response: ServerResponse, body: EngineBody): void {
  const { text, calls } = sayTo(body);
  const message = {
    role: 'assistant',
    content: calls.length > 0 ? null : text,
    reasoning_content: 'let me see',
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
  const choice = { index: 0, message, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop', logprobs: null };
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ ...HEAD, object: 'chat.completion', choices: [choice], usage: USAGE }));
}

async function stream(response: ServerResponse, body: EngineBody): Promise<void> {
  const { text, calls } = sayTo(body);
  const send = (delta: object, finish: string | null = null) => {
    const choices = [{ index: 0, delta, finish_reason: finish, logprobs: null }];
    response.write(`data: ${JSON.stringify({ ...HEAD, object: 'chat.completion.chunk', choices, usage: null })}\n\n`);
  };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  send({ role: 'assistant', content: null, reasoning_content: 'let me see' });
  for (const [index, { id, type, function: called }] of calls.entries()) {
    send({ tool_calls: [{ index, id, type, function: { name: called.name, arguments: '' } }] });
    for (const piece of called.arguments.match(/.{1,5}/g) ?? [])
      send({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
  for (const piece of text.match(/\S+\s*/g) ?? []) {
    if (response.destroyed) return;
    send({ content: piece });
    if (text.length > 1_000) await sleep(5);
  }
  send({}, calls.length > 0 ? 'tool_calls' : 'stop');
  if (body.stream_options?.include_usage) {
    response.write(
      `data: ${JSON.stringify({ ...HEAD, object: 'chat.completion.chunk', choices: [], usage: USAGE })}\n\n`,
    );
  }
  response.end('data: [DONE]\n\n');
}
