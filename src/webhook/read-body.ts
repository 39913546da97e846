import type { IncomingMessage } from 'node:http';
import { MIB_BYTES } from '../base/clock.ts';
import type { HeldBytes } from '../base/held-bytes.ts';

/** The largest body of a delivery (security.md 3.2). */
export const MAX_BODY_BYTES = MIB_BYTES;

/** The raw bytes of a request, or why they are refused. Bytes beyond the limit are not kept. */
export type BodyResult = { ok: true; body: Buffer } | { ok: false; status: 400 | 413 | 415 | 503 };

/**
 * Reads a delivery's raw bytes: only these can be verified (security.md 3.1). Compressed bodies are refused, since a
 * signature covers what was sent and a small body could unpack to a large one.
 * @param held counts what is held until the body is whole; a body that has to make room is 503
 */
export async function readBody(request: IncomingMessage, held: HeldBytes): Promise<BodyResult> {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') return { ok: false, status: 415 };
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return { ok: false, status: 413 };
  return collect(request, held);
}

/** Listeners instead of an async loop: this runs for every delivery and every poll, and costs a fraction of it. */
function collect(request: IncomingMessage, held: HeldBytes): Promise<BodyResult> {
  return new Promise((resolve) => {
    let chunks: Buffer[] = [];
    let sizeBytes = 0;
    let isKept = true;
    const end = (result: BodyResult) => {
      holding.end();
      resolve(result);
    };
    const drop = (status: 413 | 503) => {
      isKept = false;
      chunks = [];
      end({ ok: false, status });
    };
    const holding = held.begin(() => drop(503));
    request.on('data', (chunk: Buffer) => {
      if (!isKept) return;
      sizeBytes += chunk.length;
      // What comes beyond is read and dropped: a connection cut in the middle would hide the answer from the sender.
      if (sizeBytes > MAX_BODY_BYTES) return drop(413);
      chunks.push(chunk);
      holding.grow(chunk.length);
    });
    request.once('end', () =>
      end({ ok: true, body: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, sizeBytes) }),
    );
    request.once('close', () => end({ ok: false, status: 400 }));
    request.once('error', () => end({ ok: false, status: 400 }));
  });
}
