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
  return collect(request);
}

/** Listeners instead of an async loop: this runs for every delivery and every poll, and costs a fraction of it. */
function collect(request: IncomingMessage): Promise<BodyResult> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    request.on('data', (chunk: Buffer) => {
      sizeBytes += chunk.length;
      if (sizeBytes <= MAX_BODY_BYTES) chunks.push(chunk);
      // What comes beyond is read and dropped: a connection cut in the middle would hide the answer from the sender.
      else resolve({ ok: false, status: 413 });
    });
    request.once('end', () =>
      resolve({ ok: true, body: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, sizeBytes) }),
    );
    request.once('close', () => resolve({ ok: false, status: 400 }));
    request.once('error', () => resolve({ ok: false, status: 400 }));
  });
}
