import { createServer } from 'node:http';

const TICK_MS = 2;
/** Last word of every answer: a snapshot that ends with it is the final one. */
export const LAST_WORD = 'end.';

const head = { id: 'chatcmpl-0123456789abcdef', object: 'chat.completion.chunk', created: 1, model: 'svc-plus' };
const line = (delta, reason = null) =>
  `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
const WORD = line({ content: 'word ' });
const END = line({ content: LAST_WORD }) + line({}, 'stop') + 'data: [DONE]\n\n';

/**
 * A model for which only the speed matters: `{ tokens, firstMs, perSecond }`, or all tokens at once without `perSecond`.
 * `bytes` counts those of all requests. Calls `heard(id, what)` with `called`, `first` and `last` for each conversation, whose id it finds in the question.
 */
export async function startModelStandIn(heard = () => undefined) {
  const open = new Set();
  const model = { pace: { tokens: 20 }, bytes: 0 };
  const send = (stream, nowMs) => {
    const { pace, startedMs, response, id } = stream;
    const since = nowMs - startedMs - pace.firstMs;
    const due = since < 0 ? 0 : Math.min(pace.tokens, 1 + Math.floor((since * pace.perSecond) / 1_000));
    if (due <= stream.sent) return;
    if (stream.sent === 0) heard(id, 'first');
    const isLast = due === pace.tokens;
    const words = WORD.repeat(due - stream.sent - (isLast ? 1 : 0));
    stream.sent = due;
    if (!isLast) return void response.write(words);
    heard(id, 'last');
    response.end(words + END);
    open.delete(stream);
  };
  const timer = setInterval(() => {
    const nowMs = performance.now();
    for (const stream of open) send(stream, nowMs);
  }, TICK_MS);
  const server = createServer((request, response) => {
    const parts = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts);
      model.bytes += body.length;
      const id = /bench-(\d+)/.exec(body.toString('latin1'))?.[1] ?? '';
      heard(id, 'called');
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const { pace } = model;
      if (pace.perSecond === undefined) {
        heard(id, 'first');
        heard(id, 'last');
        return void response.end(WORD.repeat(pace.tokens - 1) + END);
      }
      const stream = { pace, response, id, sent: 0, startedMs: performance.now() };
      response.once('close', () => open.delete(stream));
      response.flushHeaders();
      open.add(stream);
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(model, {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    async stop() {
      clearInterval(timer);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}
