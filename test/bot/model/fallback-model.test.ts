import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { ChatEvent } from '../../../src/bot/model/chat-types.ts';
import { startChatFixture, type ChatFixture } from './chat-fixture.ts';
import { chunk, cutAfter, helloStream, statusOf, type Answer, sse, streamOf } from './scripted-chat-server.ts';

const MODEL = 'svc-plus';
const FALLBACK = 'svc-max';

let fixture: ChatFixture;
beforeEach(async () => {
  fixture = await startChatFixture();
});
afterEach(() => fixture.stop());

/** Scripts the answers of the model and of its fallback. */
function script(answers: { model: Answer; fallback: Answer }): void {
  fixture.server.script((response, call) =>
    (call.body['model'] === MODEL ? answers.model : answers.fallback)(response, call),
  );
}
const ask = () => fixture.ask({ fallbackModel: FALLBACK });
const asked = () => fixture.server.calls.map(({ body }) => body['model']);
const FELL_BACK: ChatEvent = { type: 'fallback', model: FALLBACK };

test('a failing model is replaced by its fallback, announced first, within three calls in all [bounded-retries] [chat-service-fails]', async () => {
  script({ model: statusOf(503), fallback: helloStream('from the other') });
  const { events, text, end } = await ask();
  expect(events[0]).toEqual(FELL_BACK);
  expect([text, end]).toEqual(['from the other', 'stop']);
  expect(asked()).toEqual([MODEL, MODEL, FALLBACK]);
  expect(fixture.fallbacks).toEqual([{ model: MODEL, fallback: FALLBACK, code: 'chat_server_error' }]);
});

test('the fallback is asked at once, with one call per question, while the model’s breaker is open [circuit-breaker]', async () => {
  script({ model: statusOf(503), fallback: helloStream() });
  while (fixture.breaker.length === 0) await ask();
  const callsBefore = fixture.server.calls.length;
  for (let question = 0; question < 5; question += 1) expect((await ask()).end).toBe('stop');
  expect(asked().slice(callsBefore)).toEqual(Array.from({ length: 5 }, () => FALLBACK));
  expect(fixture.fallbacks.at(-1)?.code).toBe('chat_circuit_open');
});

test('a recovered model answers again', async () => {
  script({ model: statusOf(403), fallback: helloStream() });
  await ask();
  script({ model: helloStream('mine'), fallback: helloStream() });
  fixture.clock.nowMs += 10_000;
  const { events, text } = await ask();
  expect(text).toBe('mine');
  expect(events).not.toContainEqual(FELL_BACK);
});

test('no other model is asked once an answer has begun [no-second-beginning]', async () => {
  script({ model: cutAfter(Buffer.from(chunk({ content: 'half' }))), fallback: helloStream() });
  expect(await ask()).toMatchObject({ text: 'half', end: 'truncated' });
  const breaks = streamOf(chunk({ content: 'half' }), sse({ error: { message: 'm', code: 503 } }));
  script({ model: breaks, fallback: helloStream() });
  expect(await ask()).toMatchObject({ text: 'half', error: { code: 'chat_server_error' } });
  expect(asked()).toEqual([MODEL, MODEL]);
});

test.each([400, 401, 413, 422])('status %i is returned without asking the fallback', async (status) => {
  script({ model: statusOf(status), fallback: helloStream() });
  expect((await ask()).error?.status).toBe(status);
  expect(asked()).toEqual([MODEL]);
});

test('the fallback answers if the model is unknown to the service', async () => {
  script({ model: statusOf(404), fallback: helloStream() });
  expect((await ask()).end).toBe('stop');
  expect(asked()).toEqual([MODEL, FALLBACK]);
});

test('a model without a fallback, or with itself as fallback, gets three tries', async () => {
  fixture.server.script(statusOf(503));
  await fixture.ask();
  await fixture.ask({ fallbackModel: MODEL });
  expect(asked()).toEqual(Array.from({ length: 6 }, () => MODEL));
});

test('questions end in errors with at most 10 % extra calls if both models are dead [chat-service-fails]', async () => {
  fixture.server.script(statusOf(503));
  for (let question = 0; question < 120; question += 1) {
    const { error } = await ask();
    expect(['chat_server_error', 'chat_circuit_open']).toContain(error?.code);
  }
  expect(fixture.server.calls.length).toBeLessThanOrEqual(120 * 1.1);
  expect(fixture.breaker).toEqual(['open', 'open']);
  expect(fixture.fallbacks).toEqual([]);
});

test('the error of the model is reported if the fallback’s breaker is open as well', async () => {
  script({ model: statusOf(503), fallback: statusOf(503) });
  while (fixture.breaker.length < 2) await ask();
  fixture.clock.nowMs += 10_000;
  // The model's probe is let through; the fallback's probe is taken by another pending question.
  script({ model: statusOf(504), fallback: (response) => response.writeHead(200).flushHeaders() });
  const open = fixture.ask({ model: FALLBACK });
  while (asked().at(-1) !== FALLBACK) await new Promise((resolve) => setTimeout(resolve, 5));
  expect((await ask()).error).toMatchObject({ code: 'chat_server_error', status: 504 });
  await fixture.stop();
  await open;
});

test('a question costs at most three calls, the fallback last, whatever both models answer [chat-service-fails]', async () => {
  const answers: Answer[] = [
    statusOf(503),
    statusOf(429),
    statusOf(404),
    statusOf(403),
    statusOf(400),
    helloStream(),
    cutAfter(Buffer.from(': hi\n\n')),
  ];
  for (const [model, fallback] of answers.flatMap((one) => answers.map((other) => [one, other] as const))) {
    fixture.clock.nowMs += 60_000;
    fixture.server.calls.splice(0);
    script({ model, fallback });
    await ask();
    expect(asked().length).toBeLessThanOrEqual(3);
    expect(asked().length).toBeGreaterThan(0);
    const first = asked().indexOf(FALLBACK);
    if (first >= 0) expect(asked().slice(first)).not.toContain(MODEL);
  }
});
