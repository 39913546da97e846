import type { IncomingMessage } from 'node:http';
import { MIB_BYTES } from '../base/clock.ts';

/** The largest body of a delivery (security.md 3.2). */
export const MAX_BODY_BYTES = MIB_BYTES;

/** The raw bytes of a request, or why they are refused. Bytes beyond the limit are not kept. */
export type BodyResult = { ok: true; body: Buffer } | { ok: false; status: 400 | 413 | 415 };

/**
 * Reads a delivery's raw bytes: only these can be verified (security.md 3.1). Compressed bodies are refused, since a
 * signature covers what was sent and a small body could unpack to a large one.
 */
export async function readBody(request: IncomingMessage): Promise<BodyResult> {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') return { ok: false, status: 415 };
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return { ok: false, status: 413 };
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      sizeBytes += chunk.length;
      if (sizeBytes > MAX_BODY_BYTES) return { ok: false, status: 413 };
      chunks.push(chunk);
    }
  } catch {
    return { ok: false, status: 400 };
  }
  return { ok: true, body: Buffer.concat(chunks, sizeBytes) };
}
