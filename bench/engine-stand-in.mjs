import { createServer } from 'node:http';

/** Parses the request's first message: `CHUNKS every GAP_MS`. */
export const orderOf = ({ chunks, gapMs }) => `${chunks} every ${gapMs}`;

/** An engine that sends the requested number of chunks at fixed intervals, each with its send time (`sentMs`). */
export async function startEngineStandIn() {
  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const { messages } = JSON.parse(Buffer.concat(parts).toString());
    const [, chunks, gapMs] = /^(\d+) every (\d+)$/.exec(messages[0].content).map(Number);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    let sent = 0;
    const send = () => {
      sent += 1;
      const isLast = sent === chunks;
      response.write(chunk(isLast));
      if (!isLast) return;
      clearInterval(timer);
      response.end('data: [DONE]\n\n');
    };
    const timer = setInterval(send, gapMs);
    response.once('close', () => clearInterval(timer));
    send();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A chunk in the format of vLLM. */
function chunk(isLast) {
  const choice = { index: 0, delta: { content: ' word' }, logprobs: null, finish_reason: isLast ? 'stop' : null };
  const id = 'chatcmpl-0123456789abcdef0123456789abcdef';
  const reply = { id, object: 'chat.completion.chunk', created: 1_800_000_000, model: 'engine-model' };
  return `data: ${JSON.stringify({ ...reply, choices: [choice], sentMs: performance.now() })}\n\n`;
}
