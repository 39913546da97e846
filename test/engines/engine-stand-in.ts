import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { EngineRequest, EngineShape } from './engine-shape.ts';

export interface EngineStandIn {
  /** Ends in `/v1`. */
  url: string;
  /** Received requests, in order. */
  requests: EngineRequest[];
  close(): Promise<void>;
}

export const USAGE = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
export const THOUGHT = 'Let me see, 让我想想';
const SAID = 'whole answer, 完整的回答';
const CALL = { id: 'call_1', type: 'function', function: { name: 'current_time', arguments: '{"timeZone":"UTC"}' } };

/** One server for all rows, selected by the name of the requested model. */
export async function startEngineStandIn(engines: readonly EngineShape[]): Promise<EngineStandIn> {
  const requests: EngineRequest[] = [];
  const server = createServer((message, response) => {
    if (message.url?.endsWith('/models')) {
      const data = engines.map(({ model: id }) => ({ id, object: 'model' }));
      json(response, 200, { object: 'list', data });
      return;
    }
    const parts: Buffer[] = [];
    message.on('data', (part: Buffer) => parts.push(part));
    message.on('end', () => {
      const request = JSON.parse(Buffer.concat(parts).toString()) as EngineRequest;
      requests.push(request);
      const row = engines.find((engine) => namesOf(engine).includes(request.model));
      if (row) play(row, request, response);
      else json(response, 404, { error: { message: 'no such model' } });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    close: () => new Promise((resolve) => (server.closeAllConnections(), server.close(() => resolve()))),
  };
}

/** The model names of a row's engine. */
function namesOf({ model, refusal }: EngineShape): unknown[] {
  return [model, refusal?.guessed?.['upstream']];
}

function play(row: EngineShape, request: EngineRequest, response: ServerResponse): void {
  const { refusal, error } = row;
  const asked = askedText(request);
  if (refusal?.refuses(request)) json(response, refusal.status, refusal.body);
  else if (asked.includes('provoke')) json(response, error.status, error.body);
  else if (request.stream) stream(row, request, response);
  else whole(row, request, response);
}

interface Said {
  thought: string;
  text: string;
  calls: (typeof CALL)[];
}

function sayTo(row: EngineShape, request: EngineRequest): Said {
  const newest = request.messages.at(-1);
  const thought = row.thinksAbout?.(request) === true && row.thoughtIn !== undefined ? THOUGHT : '';
  const picture = Array.isArray(newest?.content)
    ? (newest.content as { image_url?: { url: string } }[]).find(({ image_url: image }) => image)
    : undefined;
  if (picture) return { thought, text: `I see ${kindOfPicture(picture.image_url?.url ?? '')}.`, calls: [] };
  if (newest?.role === 'tool') {
    const knows = typeof newest.content === 'string' && newest.content.includes('UTC');
    return { thought, text: knows ? 'The clock says UTC.' : 'The tool said nothing.', calls: [] };
  }
  if (!askedText(request).includes('What time')) return { thought, text: `A ${SAID}.`, calls: [] };
  return request.tools ? { thought, text: '', calls: [CALL] } : { thought, text: 'I have no clock.', calls: [] };
}

function askedText({ messages }: EngineRequest): string {
  const newest = messages.findLast(({ role }) => role === 'user');
  return typeof newest?.content === 'string' ? newest.content : JSON.stringify(newest?.content);
}

/** By its first bytes, not by its address. */
function kindOfPicture(url: string): string {
  const bytes = Buffer.from(url.replace(/^data:image\/\w+;base64,/, ''), 'base64');
  return bytes.subarray(1, 4).toString('latin1') === 'PNG' || bytes[0] === 0xff ? 'a picture' : 'nothing';
}

/** The fields of a thought or a text in this engine's format. */
function written({ thoughtIn }: EngineShape, kind: 'thought' | 'text', piece: string, place: Place = {}): object {
  if (kind === 'text')
    return { content: thoughtIn === 'parts' && place.isWhole ? [{ type: 'text', text: piece }] : piece };
  if (thoughtIn === 'tags')
    return { content: `${place.isFirst ? '<think>' : ''}${piece}${place.isLast ? '</think>\n\n' : ''}` };
  if (thoughtIn === 'parts') return { content: [{ type: 'thinking', thinking: [{ type: 'text', text: piece }] }] };
  return { content: null, [thoughtIn ?? 'reasoning_content']: piece };
}

interface Place {
  isFirst?: boolean;
  isLast?: boolean;
  isWhole?: boolean;
}

function whole(row: EngineShape, request: EngineRequest, response: ServerResponse): void {
  const { thought, text, calls } = sayTo(row, request);
  const message: Record<string, unknown> = { role: 'assistant', content: calls.length > 0 ? null : text };
  if (thought !== '' && row.thoughtIn === 'tags') message['content'] = `<think>${thought}</think>\n\n${text}`;
  else if (row.thoughtIn === 'parts' && thought !== '')
    message['content'] = [
      { type: 'thinking', thinking: [{ type: 'text', text: thought }] },
      { type: 'text', text },
    ];
  else if (thought !== '') message[row.thoughtIn ?? ''] = thought;
  if (calls.length > 0) message['tool_calls'] = calls;
  const choice = { index: 0, message, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop', ...row.inChoice };
  json(response, 200, {
    id: 'e1',
    object: 'chat.completion',
    created: 1,
    model: row.model,
    choices: [choice],
    usage: USAGE,
  });
}

function stream(row: EngineShape, request: EngineRequest, response: ServerResponse): void {
  const { thought, text, calls } = sayTo(row, request);
  const { usage = 'where asked', inChunk = {}, inChoice = {} } = row;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const line of row.opening ?? []) response.write(line);
  const send = (delta: object, more: { reason?: string; choice?: object; chunk?: object } = {}) => {
    const choice = { index: 0, delta, ...inChoice, finish_reason: more.reason ?? null, ...more.choice };
    const every = usage === 'with every chunk' ? { usage: USAGE } : {};
    const head = { id: 'e1', object: 'chat.completion.chunk', created: 1, model: row.model };
    response.write(`data: ${JSON.stringify({ ...head, choices: [choice], ...inChunk, ...every, ...more.chunk })}\n\n`);
  };
  send({ role: 'assistant', content: '' });
  const thoughts = thought.match(/.{1,6}/gu) ?? [];
  for (const [index, piece] of thoughts.entries())
    send(written(row, 'thought', piece, { isFirst: index === 0, isLast: index === thoughts.length - 1 }));
  for (const piece of piecesOf(calls, row.callsInOnePiece)) send({ tool_calls: [piece] });
  const pieces = text.match(/.{1,5}/gu) ?? [];
  if (row.givesUp && askedText(request).includes('give up')) {
    for (const piece of pieces.slice(0, 2)) send({ content: piece });
    if ('event' in row.givesUp) response.end(row.givesUp.event);
    else {
      send({}, { reason: row.givesUp.reason });
      response.end('data: [DONE]\n\n');
    }
    return;
  }
  for (const piece of pieces) send(written(row, 'text', piece));
  send(
    { content: '' },
    {
      reason: calls.length > 0 ? 'tool_calls' : 'stop',
      ...(usage === 'in the choice' ? { choice: { usage: USAGE } } : {}),
      ...(usage === 'with the last chunk' ? { chunk: { usage: USAGE } } : {}),
    },
  );
  if (usage === 'where asked' && request.stream_options?.include_usage === true) {
    const last = { id: 'e1', object: 'chat.completion.chunk', created: 1, model: row.model, choices: [], usage: USAGE };
    response.write(`data: ${JSON.stringify(last)}\n\n`);
  }
  response.end(row.hasNoEndMark ? '' : 'data: [DONE]\n\n');
}

function piecesOf(calls: (typeof CALL)[], isOnePiece = false): object[] {
  return calls.flatMap(({ id, type, function: { name, arguments: args } }, index) => {
    if (isOnePiece) return [{ index, id, type, function: { name, arguments: args } }];
    const more = (args.match(/.{1,5}/gu) ?? []).map((piece) => ({ index, function: { arguments: piece } }));
    return [{ index, id, type, function: { name, arguments: '' } }, ...more];
  });
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
