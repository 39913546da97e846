import { fetch as fetchBy, type RequestInit as InitOfFetch } from 'undici';
import { KIB_BYTES } from '../clock.ts';
import { outgoing } from '../http/http-agent.ts';

/** Discovery documents and key sets are a few KiB, claims with hundreds of groups some dozens. */
const MAX_BODY_BYTES = 256 * KIB_BYTES;

/**
 * `fetch` that follows no redirect and holds no more than 256 KiB, so that a provider gone wrong costs neither memory nor
 * trust. The answer's body has been read already.
 * @throws TypeError or DOMException as fetch does; RangeError when the body is larger
 */
export async function boundedFetch(url: string, options: RequestInit): Promise<Response> {
  const init = { ...(options as InitOfFetch), redirect: 'manual', dispatcher: outgoing } as const;
  const response = await fetchBy(url, init);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    // Leaving the loop cancels the rest.
    if (size > MAX_BODY_BYTES) throw new RangeError('The answer is larger than 256 KiB');
    chunks.push(chunk);
  }
  const { status, statusText, headers } = response;
  return new Response(chunks.length > 0 ? Buffer.concat(chunks) : null, {
    status,
    statusText,
    headers: [...headers],
  });
}
