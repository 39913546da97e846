// The floor of a relay: a minimal HTTP server that pipes the request to the engine and the response back, without reading
// either.
import { createServer } from 'node:http';
import { Agent, request as sendRequest } from 'undici';

const dispatcher = new Agent();
const server = createServer(async (request, response) => {
  const left = new AbortController();
  response.once('close', () => left.abort());
  const { statusCode, headers, body } = await sendRequest(process.env.ENGINE_URL + request.url.replace(/^\/v1/, ''), {
    dispatcher,
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': request.headers['content-length'] },
    body: request,
    signal: left.signal,
  });
  response.writeHead(statusCode, { 'content-type': headers['content-type'] });
  body.on('error', () => response.destroy()).pipe(response);
});
server.listen(Number(process.env.PORT), '127.0.0.1', () => process.stdout.write('is running\n'));
process.on('SIGTERM', () => process.exit(0));
