import { KIB_BYTES, SECOND_MS } from '../../base/clock.ts';
import { inThread, threadModule } from '../../base/threads.ts';
import { ChatApiError, type ChatApiErrorCode } from './chat-api-error.ts';
import type { ChatRequest } from './chat-request.ts';
import type { ModelEntry } from '../../models/model-entry.ts';

/** What the thread is given. */
export interface ReadWork {
  bytes: Uint8Array;
  models: [string, ModelEntry][];
}

/** What it says. */
export type JudgedBody =
  { request: ChatRequest } | { fault: { code: ChatApiErrorCode; message: string; param?: string } };

const MODULE = threadModule('./read-request-thread.js', import.meta.url);
/** A body that is smaller costs a few milliseconds at most. */
const SIMPLE_BYTES = 256 * KIB_BYTES;
/** Of commas and opening brackets together: each stands for a value to be made. */
const MOST_VALUES = 50_000;
const VALUE_SIGNS = [',', '[', '{'].map((sign) => sign.charCodeAt(0));
const MOST_MS = 10 * SECOND_MS;

/** Whether a body would hold everybody up while it is read. Bytes are cheap, as of an image; values are not. */
export function isIntricate(bytes: Buffer): boolean {
  if (bytes.length <= SIMPLE_BYTES) return false;
  let count = 0;
  for (const sign of VALUE_SIGNS) {
    for (let at = bytes.indexOf(sign); at >= 0; at = bytes.indexOf(sign, at + 1)) {
      count += 1;
      if (count > MOST_VALUES) return true;
    }
  }
  return false;
}

/** Reads such a body in a thread, one at a time. @throws ChatApiError as reading it here would, and 413 for what needs too much time or memory */
export async function readIntricate(bytes: Buffer, models: ReadonlyMap<string, ModelEntry>): Promise<ChatRequest> {
  const work: ReadWork = { bytes, models: [...models] };
  const options = { purpose: 'body', signal: AbortSignal.timeout(MOST_MS) } as const;
  const judged = await inThread<JudgedBody>(MODULE, work, options).catch((cause: unknown) => {
    throw new ChatApiError('request_too_large', 'The body holds more values than can be read', { cause });
  });
  if ('request' in judged) return judged.request;
  const { code, message, ...where } = judged.fault;
  throw new ChatApiError(code, message, where);
}
