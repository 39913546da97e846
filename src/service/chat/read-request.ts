import { fileURLToPath } from 'node:url';
import { SandboxedProcess, SandboxedProcessError } from '../../shared/process/sandboxed-process.ts';
import { MIB_BYTES, SECOND_MS } from '../../shared/clock.ts';
import { SerialQueue } from '../../shared/serial-queue.ts';
import { threadModule } from '../../shared/process/worker-pool.ts';
import type { ModelEntry } from '../../shared/models/model-entry.ts';
import { ChatApiError, type ChatApiErrorCode } from './chat-api-error.ts';
import { readChatRequest, type ChatRequest, type RequestRules } from './chat-request.ts';
import { parseBody, tooManyValues, type JsonBody } from './read-body.ts';

/** Message to the process, in addition to the bytes. */
export interface ReadOrder {
  rules: RequestRules | undefined;
  bytes: Buffer;
  models: [string, ModelEntry][];
}

/** Reply of the process. */
export type JudgedBody =
  { request: ChatRequest } | { fault: { code: ChatApiErrorCode; message: string; param?: string } };

/** Bodies with fewer values take at most 50 ms to parse, and are parsed in this process. */
const MAX_SIMPLE_VALUES = 50_000;

/** One body at a time; keys take turns. */
const lane = new SerialQueue(1);
/** A sandboxed process instead of a worker thread: a thread that reaches its memory limit may end the whole process. */
const reader = new SandboxedProcess({
  name: 'requests',
  path: fileURLToPath(threadModule('./request-reader.js', import.meta.url)),
  limitMs: 10 * SECOND_MS,
  maxHeapMib: 384,
  maxResidentBytes: 700 * MIB_BYTES,
  maxGrownBytes: 100 * MIB_BYTES,
});

/**
 * Parses a chat request. A body with many values is parsed in a separate process, so that other requests are served
 * meanwhile.
 * @param owner of the body: the many bodies of one owner do not delay another's
 * @throws ChatApiError 400, 404, or 413 for a body that takes too much time or memory
 */
export async function readRequest(
  { bytes, values }: JsonBody,
  models: ReadonlyMap<string, ModelEntry>,
  { rules, owner }: { rules: RequestRules | undefined; owner: string },
): Promise<ChatRequest> {
  if (values <= MAX_SIMPLE_VALUES) return readChatRequest(parseBody(bytes), models, rules);
  const order: ReadOrder = { bytes, models: [...models], rules };
  const judged = await lane
    .run(owner, () => reader.ask(order))
    .catch((error: unknown) => {
      throw error instanceof SandboxedProcessError ? tooManyValues(error) : error;
    });
  const answer = judged as JudgedBody;
  if ('request' in answer) return answer.request;
  const { code, message, ...where } = answer.fault;
  throw new ChatApiError(code, message, where);
}
