import type { IncomingMessage } from 'node:http';
import { MIB_BYTES } from '../../shared/clock.ts';
import { MessengerError } from '../messenger-error.ts';

const MAX_BODY_BYTES = MIB_BYTES;

/** A request's body. @throws MessengerError `bad_request` if it is larger than 1 MB */
export async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_BODY_BYTES) throw new MessengerError('bad_request', 'The body is larger than 1 MB');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
