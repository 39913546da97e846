import { MINUTE_MS } from '../clock.ts';
import { callHttp, HttpCallError } from '../http/call-http.ts';

/**
 * `fetch` that follows no redirect and reads at most 256 KiB, so that a misbehaving provider can neither exhaust memory nor
 * redirect trust: discovery documents and key sets have a few KiB, claims with hundreds of groups a few dozen. The response
 * body has been read already.
 * @throws the signal's reason; RangeError if the body is larger; HttpCallError
 */
export async function boundedFetch(url: string, options: RequestInit): Promise<Response> {
  const request = new Request(url, options);
  const { status, body, headers } = await callHttp(url, {
    method: request.method === 'POST' ? 'POST' : 'GET',
    headers: Object.fromEntries(request.headers),
    body: request.body ? await request.text() : undefined,
    // The signal usually ends the call earlier.
    timeoutMs: MINUTE_MS,
    signal: options.signal ?? undefined,
  }).catch((error: unknown) => {
    if (error instanceof HttpCallError && error.code === 'too_large') throw new RangeError(error.message);
    throw error;
  });
  const lines = Object.entries(headers).flatMap(([name, value = []]) =>
    [value].flat().map((line): [string, string] => [name, line]),
  );
  return new Response(body.length > 0 ? body : null, { status, headers: lines });
}
