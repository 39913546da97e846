import { createServer } from 'node:http';
import { LAST_WORD } from './model-stand-in.mjs';

const WRITES = new Set(['chat.postMessage', 'chat.update']);
/** Ids as in the events. */
const OWN = { team_id: 'T0000001', user_id: 'U0BOT', bot_id: 'B0BOT' };

/** Slack's side of posts and edits. Calls `heard(id, what)` when a text is first visible and when it is complete. */
export async function startSlackStandIn(heard) {
  let posted = 0;
  const counts = { posts: 0, edits: 0 };
  const server = createServer((request, response) => {
    const parts = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      const method = request.url.split('/').at(-1);
      response.setHeader('content-type', 'application/json');
      // Calls of the bot at its start.
      if (!WRITES.has(method)) return response.end(JSON.stringify({ ok: true, ...OWN }));
      const args = JSON.parse(Buffer.concat(parts).toString());
      const isPost = request.url.endsWith('postMessage');
      if (isPost) posted += 1;
      counts[isPost ? 'posts' : 'edits'] += 1;
      const ts = isPost ? `1760001000.${String(posted).padStart(6, '0')}` : args.ts;
      response.end(JSON.stringify({ ok: true, channel: args.channel, ts }));
      const id = args.channel.slice(1);
      if (isPost) heard(id, 'visible');
      // Beside blocks, `text` is only the beginning, for notifications.
      const block = args.blocks?.find(({ type }) => type === 'markdown');
      if ((block?.text ?? args.markdown_text ?? args.text).endsWith(LAST_WORD)) heard(id, 'final');
    });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/api`,
    counts,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
