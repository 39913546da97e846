import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { startChatFixture, type ChatFixture } from '../bot/model/chat-fixture.ts';
import type { Answer } from '../bot/model/scripted-chat-server.ts';
import { askChat, streamChat } from '../service/chat-client.ts';
import { HELLO } from '../service/upstream-support.ts';
import { NO_LIMITS, startTestService, type TestService } from '../service/support.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { REPLY_DIALECTS, type ReplyDialect } from './reply-dialects.ts';

const TOOLS = [{ name: 'search_documents', description: 'Searches', parameters: { type: 'object', properties: {} } }];
const rows = REPLY_DIALECTS.map((row) => [row.name, row] as const);

/** Writes a row's bytes part by part. */
const answerOf =
  ({ wire, contentType = 'text/event-stream' }: ReplyDialect): Answer =>
  async (response) => {
    response.writeHead(200, { 'content-type': contentType });
    for (const piece of wire) {
      response.write(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
  };

describe("the bot's chat client, with the replies of various engines [whole-answers]", () => {
  let fixture: ChatFixture;
  beforeAll(async () => (fixture = await startChatFixture({ breakerMinCalls: 10_000, retryShare: 3 })));
  afterAll(() => fixture.stop());

  test.each(rows)('reads %s', async (_, row) => {
    const before = fixture.server.calls.length;
    fixture.server.script(answerOf(row));
    const { text, reasoning, end, error, events } = await fixture.ask({ tools: TOOLS });
    const calls = events.flatMap((event) =>
      event.type === 'tool-call' ? [`${event.name} ${event.argumentsJson}`] : [],
    );
    const isWhole = error === undefined && end !== 'truncated';
    expect([text, calls, isWhole]).toEqual([row.text, row.calls ?? [], row.ending === undefined]);
    expect(reasoning).toBe(row.thought ?? reasoning);
    expect(fixture.server.calls.length - before).toBe(row.ending === 'failure' ? 3 : 1);
  });
});

describe('the service in front of an engine, with the same replies [whole-answers]', () => {
  let redis: TestRedis;
  let engine: Server;
  let service: TestService;
  let row: ReplyDialect;
  beforeAll(async () => {
    redis = await startTestRedis();
    engine = createServer((request, response) => {
      request.resume().on('end', () => void answerOf(row)(response, undefined as never));
    }).listen(0, '127.0.0.1');
    await once(engine, 'listening');
    const url = `http://127.0.0.1:${(engine.address() as AddressInfo).port}/v1`;
    service = await startTestService(redis.redis, { chatLimits: NO_LIMITS, upstream: { url, models: {} } });
  });
  afterAll(async () => {
    await service.close();
    engine.closeAllConnections();
    engine.close();
    await redis.stop();
  });
  const tools = TOOLS.map((tool) => ({ type: 'function', function: tool }));
  const written = (calls: readonly object[] = []) =>
    (calls as { function: { name: string; arguments: string } }[]).map(
      (one) => `${one.function.name} ${one.function.arguments}`,
    );

  test.each(rows)('streamed: %s', async (_, one) => {
    row = one;
    if (one.ending === 'failure') {
      const { status } = await askChat(service, { ...HELLO, tools, stream: true });
      expect([429, 503]).toContain(status);
      return;
    }
    const { chunks, lines } = await streamChat(service, { ...HELLO, tools });
    const done = lines.at(-1) === 'data: [DONE]';
    // The event of an error has no choices.
    const pieces = chunks.filter((chunk) => 'choices' in chunk);
    const deltas = pieces.map(
      ({ choices }) => choices[0]?.delta as { content?: string; tool_calls?: object[] } | undefined,
    );
    expect([
      deltas.map((delta) => delta?.content ?? '').join(''),
      written(deltas.flatMap((delta) => delta?.tool_calls ?? [])),
    ]).toEqual([one.text, one.calls ?? []]);
    const reasons = pieces.flatMap(
      ({ choices }) => (choices[0] as { finish_reason?: string } | undefined)?.finish_reason ?? [],
    );
    if (one.ending === undefined) expect([done, reasons.length]).toEqual([true, 1]);
    else expect(done && reasons.every((reason) => reason === 'stop')).toBe(false);
  });

  test.each(rows.filter(([, { ending }]) => ending === undefined))('complete: %s', async (_, one) => {
    row = one;
    const { status, body } = await askChat(service, { ...HELLO, tools });
    const [choice] = body.choices as [{ message: { content: string | null; tool_calls?: object[] } }];
    expect([status, choice.message.content ?? '', written(choice.message.tool_calls)]).toEqual([
      200,
      one.text,
      one.calls ?? [],
    ]);
  });
});
