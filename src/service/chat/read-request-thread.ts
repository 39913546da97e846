import { parentPort, workerData } from 'node:worker_threads';
import { asChatApiError } from './chat-api-error.ts';
import { parseBody } from './read-body.ts';
import { readChatRequest } from './chat-request.ts';
import type { JudgedBody, ReadWork } from './read-intricate.ts';

/** Judges one body: what `read-intricate.ts` runs in a thread of its own. */
function judge({ bytes, models }: ReadWork): JudgedBody {
  try {
    const body = parseBody(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    return { request: readChatRequest(body, new Map(models)) };
  } catch (thrown) {
    const { code, message, param } = asChatApiError(thrown);
    return { fault: { code, message, param: param ?? undefined } };
  }
}

parentPort?.postMessage(judge(workerData as ReadWork));
