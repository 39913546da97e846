import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { askChat, streamChat } from './chat-client.ts';
import { begin, DONE, engineChunk, stream } from './stand-in-engine.ts';
import { ask, ENGINE_KEY, HELLO, pairs } from './upstream-support.ts';

const start = pairs();
const STREAM = { ...HELLO, stream: true };
const textOf = ({ chunks }: Awaited<ReturnType<typeof streamChat>>) =>
  chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
const errorIn = (line: string | undefined) =>
  (JSON.parse(line?.slice('data: '.length) ?? '') as { error: { code: string; message: string } }).error;

/** Writes the parts one after the other, each as a separate packet. */
async function drip(response: ServerResponse, pieces: Iterable<Uint8Array>): Promise<void> {
  begin(response);
  for (const piece of pieces) {
    response.write(piece);
    await sleep(1);
  }
  response.end();
}

describe('unusual stream formats', () => {
  const answer = engineChunk({ content: '你好, ' }) + engineChunk({ content: '🙂' }, 'stop') + DONE;

  test.each([
    ['CRLF', answer.replaceAll('\n', '\r\n')],
    ['CR alone', answer.replaceAll('\n', '\r')],
    ['comments and keep-alives', `: hello\n\n${answer.replaceAll('\n\n', '\n\n: keep-alive\n\n:\n\n')}`],
    [
      'named events, ids and retry times',
      `retry: 5\n\n${answer.replaceAll('data: {', 'event: chunk\nid: 7\ndata: {')}`,
    ],
    ['no space after the colon', answer.replaceAll('data: ', 'data:')],
    ['one event over two data lines', answer.replaceAll('"choices"', '\ndata: "choices"')],
    ['a byte order mark', `\uFEFF${answer}`],
    ['a finish reason and no [DONE]', answer.replace(DONE, '')],
    ['more after the [DONE]', `${answer}data: {"error":{"message":"late"}}\n\ndata: nonsense\n\n`],
  ])('%s', async (_, text) => {
    const { service } = await start(stream(text));
    const streamed = await streamChat(service, HELLO);
    expect([textOf(streamed), streamed.chunks.length, streamed.lines.at(-1)]).toEqual(['你好, 🙂', 2, 'data: [DONE]']);
  });

  test('include characters and events cut at every byte', async () => {
    const { service } = await start((response) => {
      void drip(
        response,
        [...Buffer.from(answer)].map((byte) => Buffer.of(byte)),
      );
    });
    const streamed = await streamChat(service, HELLO);
    expect([textOf(streamed), streamed.chunks.length, streamed.lines.at(-1)]).toEqual(['你好, 🙂', 2, 'data: [DONE]']);
  });

  test('include calls of custom tools, which keep their type and their free text', async () => {
    const piece = (custom: object, more = {}) => engineChunk({ tool_calls: [{ index: 0, custom, ...more }] });
    const first = piece({ name: 'run', input: 'ls ' }, { id: 'call_a', type: 'custom' });
    const { service } = await start(stream(first + piece({ input: '-l' }) + engineChunk({}, 'tool_calls') + DONE));
    const { chunks } = await streamChat(service, { ...HELLO, tools: [{ type: 'custom', custom: { name: 'run' } }] });
    const calls = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
    expect(calls).toEqual([{ index: 0, id: 'call_a', type: 'custom', custom: { name: 'run', input: 'ls -l' } }]);
  });

  test('include chunks without choices, which are relayed with an empty list', async () => {
    const { service } = await start(
      stream(
        'data: {"id":"e1"}\n\n',
        engineChunk({}, null, { choices: null }),
        engineChunk({ content: 'x' }, 'stop'),
        DONE,
      ),
    );
    const { chunks } = await streamChat(service, HELLO);
    expect(chunks.map(({ choices }) => choices.length)).toEqual([0, 0, 1]);
  });

  test('include a content type in other letter case and with a charset', async () => {
    const { service } = await start((response) => {
      begin(response, 'Text/Event-Stream;charset=UTF-8').end(answer);
    });
    expect(textOf(await streamChat(service, HELLO))).toBe('你好, 🙂');
  });

  test('a slow first byte is waited for, and the answer is relayed as it arrives', async () => {
    const { service } = await start((response) => {
      setTimeout(() => void begin(response).write(engineChunk({ content: 'first' })), 300);
      setTimeout(() => response.end(engineChunk({ content: 'second' }, 'stop') + DONE), 1_000);
    });
    const startedMs = performance.now();
    const answered = await ask(service, STREAM).answered;
    const seen: [text: string, ms: number][] = [];
    for await (const part of answered) seen.push([String(part), performance.now() - startedMs]);
    expect(seen[0]?.[0]).toContain('first');
    expect(seen[0]?.[1]).toBeLessThan(900);
    expect(seen.at(-1)?.[0]).toContain('[DONE]');
  });
});

describe('an answer that breaks off', () => {
  test('has only complete lines after a cut at any byte, and [DONE] only after a finish reason', async () => {
    const answer = Buffer.from(engineChunk({ content: '你' }) + engineChunk({ content: '!' }, 'stop') + DONE);
    // The last event may lack its blank line.
    const finishedAt = answer.indexOf('data: [DONE]') - 2;
    let cut = 0;
    const { service } = await start((response) => void begin(response).end(answer.subarray(0, cut)));
    for (cut = 0; cut <= answer.length; cut += 1) {
      const given = await askText(service);
      if (given.status !== 200) {
        expect([cut, given.status, given.text]).toEqual([cut, 503, expect.stringContaining('"unavailable"')]);
        continue;
      }
      const lines = given.text.split('\n').filter((line) => line !== '');
      expect([cut, lines.at(-1) === 'data: [DONE]']).toEqual([cut, cut >= finishedAt]);
      const events = lines.filter((line) => line !== 'data: [DONE]').map((line) => JSON.parse(line.slice(6)) as object);
      if (cut < finishedAt) expect(events.at(-1)).toHaveProperty('error.code', 'unavailable');
    }
  });

  const BREAKS: [string, (response: ServerResponse) => unknown][] = [
    ['breaks off', (response) => response.destroy()],
    ['ends without a finish reason', (response) => response.end()],
    ['sends invalid data', (response) => response.write('data: {broken\n\n')],
    ['sends an error', (response) => response.write(`data: {"error":{"message":"${ENGINE_KEY}"}}\n\n`)],
    ['sends a text as its error', (response) => response.write('data: {"error":"bad"}\n\n')],
    ['sends an event without end', (response) => response.write('data: ' + 'x'.repeat(2_000_000))],
  ];
  test.each(BREAKS)(
    'from an engine that %s ends with an error line and no [DONE], and the engine is left',
    async (_, finish) => {
      const { engine, service } = await start((response) => {
        begin(response).write(engineChunk({ content: 'Hel' }));
        setTimeout(() => finish(response), 20);
      });
      const { lines } = await streamChat(service, HELLO);
      expect([lines.length, errorIn(lines[1]).code]).toEqual([2, 'unavailable']);
      expect(lines.join() + service.logLines.join()).not.toContain('sk-upstream');
      await engine.requests[0]?.closed;
    },
  );

  test.each(BREAKS)('includes the text that waited for its next characters if the engine %s', async (_, finish) => {
    const { service } = await start((response) => {
      begin(response).write(engineChunk({ content: 'Hel' }) + engineChunk({ content: 'lo: 1 <' }));
      setTimeout(() => finish(response), 20);
    });
    const streamed = await streamChat(service, HELLO);
    expect(streamed.lines.slice(0, -1).map((line) => JSON.parse(line.slice(6)) as object)).not.toContainEqual(
      expect.objectContaining({ choices: [expect.objectContaining({ finish_reason: expect.any(String) })] }),
    );
    expect(errorIn(streamed.lines.at(-1)).code).toBe('unavailable');
    expect(streamed.lines.join('\n')).toContain('"content":"<"');
  });

  test('includes complete events from the same packet as the fault', async () => {
    const { service } = await start(stream(engineChunk({ content: 'Hel' }) + 'data: {broken\n\n'));
    const { lines } = await streamChat(service, HELLO);
    expect([lines[0], errorIn(lines[1]).code]).toEqual([expect.stringContaining('Hel'), 'unavailable']);
  });

  test.each([
    ['nothing', ''],
    ['only a [DONE]', DONE],
    ['only comments', ': hello\n\n'],
    ['HTML', '<html><body>busy</body></html>'],
    ['an error first', 'data: {"error":{"message":"no"}}\n\n'],
  ])('is 503 for a stream of %s', async (_, text) => {
    const { service } = await start(stream(text));
    expect((await askChat(service, STREAM)).body.error).toMatchObject({ code: 'unavailable' });
  });

  test('is ended at the size limit if it never ends, and the engine is disconnected', async () => {
    const { engine, service } = await start((response) => {
      begin(response);
      const write = () => {
        while (!response.destroyed && response.write(engineChunk({ content: 'x'.repeat(100_000) })));
      };
      response.on('drain', write);
      write();
    });
    const { text } = await askText(service);
    expect(text.length).toBeLessThan(17 * 1_024 * 1_024);
    expect(errorIn(text.trimEnd().split('\n').at(-1)).code).toBe('unavailable');
    await engine.requests[0]?.closed;
  });

  test.each([
    ['before its headers', () => undefined, 0],
    ['behind its headers', (response: ServerResponse) => begin(response).flushHeaders(), 0],
    ['within its answer', (response: ServerResponse) => begin(response).write(engineChunk({ content: 'Hel' })), 1],
  ])(
    'from an engine that is silent %s ends with an error, and the engine is disconnected',
    async (_, answer, lines) => {
      const { engine, service } = await start(answer, { firstByteMs: 500, idleMs: 500 });
      const asked = lines === 0 ? await askChat(service, STREAM) : await streamChat(service, HELLO);
      if ('lines' in asked) expect([asked.lines.length, errorIn(asked.lines[1]).code]).toEqual([2, 'unavailable']);
      else expect(asked.status).toBe(503);
      await engine.requests[0]?.closed;
    },
  );
});

test('an answer may begin long after its headers: the engine reads the prompt in between', async () => {
  const { service } = await start(
    (response) => {
      begin(response).flushHeaders();
      setTimeout(() => response.end(engineChunk({ content: 'Hello' }, 'stop') + DONE), 2_000);
    },
    { firstByteMs: 30_000, idleMs: 200 },
  );
  expect(textOf(await streamChat(service, HELLO))).toBe('Hello');
});

describe('a client that disconnects or does not read', () => {
  test.each([
    ['before the answer has begun', STREAM, () => undefined],
    [
      'in the middle of a stream',
      STREAM,
      (response: ServerResponse) => begin(response).write(engineChunk({ content: 'x' })),
    ],
    ['while a complete reply is generated', HELLO, () => undefined],
    [
      'within a complete reply',
      HELLO,
      (response: ServerResponse) => begin(response, 'application/json').write('{"choi'),
    ],
  ])('causes a disconnect of the engine, which has not ended its answer: %s', async (_, request, answer) => {
    const { engine, service } = await start((response) => void answer(response));
    const { answered, leave } = ask(service, request);
    while (engine.requests.length === 0) await sleep(5);
    if (request === STREAM && answer.length > 0) await answered;
    await sleep(50);
    leave();
    await engine.requests[0]?.closed;
    expect(service.logLines.join()).not.toContain('"level":"error"');
  });

  test('stalls the engine, and frees it by disconnecting', async () => {
    let writtenBytes = 0;
    const line = engineChunk({ content: 'x'.repeat(10_000) });
    const { engine, service } = await start((response) => {
      begin(response);
      const write = () => {
        while (!response.destroyed) {
          writtenBytes += line.length;
          if (!response.write(line)) return;
        }
      };
      response.on('drain', write);
      write();
    });
    const { answered, leave } = ask(service, STREAM);
    await answered;
    await sleep(700);
    const stalledAtBytes = writtenBytes;
    await sleep(300);
    expect(writtenBytes).toBe(stalledAtBytes);
    leave();
    await engine.requests[0]?.closed;
  });

  test('gets the rest complete and in order when it reads again', async () => {
    const pieces = Array.from({ length: 1_500 }, (_, index) =>
      engineChunk({ content: `${index} `.padEnd(5_000, '.') }),
    );
    const { service } = await start(stream(...pieces, engineChunk({ content: '' }, 'stop'), DONE));
    const answer = await ask(service, STREAM).answered;
    await sleep(300);
    let text = '';
    for await (const part of answer.setEncoding('utf8')) text += String(part);
    const numbers = [...text.matchAll(/"content":"(\d+) /g)].map(([, number]) => Number(number));
    expect(numbers).toEqual(pieces.map((_, index) => index));
    expect(text.endsWith(DONE)).toBe(true);
  });
});

async function askText(service: { url: string }): Promise<{ status: number; text: string }> {
  const answer = await ask(service, STREAM).answered;
  let text = '';
  for await (const part of answer.setEncoding('utf8')) text += String(part);
  return { status: answer.statusCode ?? 0, text };
}
