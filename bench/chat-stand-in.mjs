import { createServer } from 'node:http';

/** A chat service that streams 20 short chunks at once: its cost is not what is measured. */
export async function startChatStandIn() {
  const chunk = (delta, reason = null) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'svc-plus', choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
  const text =
    Array.from({ length: 20 }, (_, index) => chunk({ content: `word${index} ` })).join('') +
    chunk({}, 'stop') +
    'data: [DONE]\n\n';
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(text);
    });
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
