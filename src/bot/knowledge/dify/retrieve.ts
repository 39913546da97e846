import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { MIB_BYTES, MINUTE_MS } from '../../../shared/clock.ts';
import { callHttp, HttpCallError } from '../../../shared/http/call-http.ts';
import { SourceError } from '../remote-source.ts';
import type { DifyDefinition } from '../source-kinds.ts';
import { parseJson } from '../../../shared/parse-json.ts';

const MAX_ANSWER_BYTES = 2 * MIB_BYTES;
/** The signal usually ends the request earlier. */
const TIMEOUT_MS = MINUTE_MS;

/** A missing or malformed field does not invalidate the other records. */
const recordSchema = z.object({
  content: z.string().catch(''),
  title: z.string().catch(''),
  score: z.number().catch(0),
  metadata: z.record(z.string(), z.unknown()).catch({}),
});
const answerSchema = z.object({ records: z.array(z.unknown()) });
const errorSchema = z.object({ error_code: z.union([z.number(), z.string()]) });
/** Error codes for a wrong API key. */
const WRONG_KEY = new Set(['1001', '1002']);
/** Error code for an unknown knowledge base id. */
const NO_SUCH_KNOWLEDGE = '2001';

export type DifyRecord = z.output<typeof recordSchema>;

/** The detailed cause, for the administrator. */
export type DifyFault = 'key_unreadable' | 'wrong_key' | 'no_such_knowledge' | 'senseless' | 'unreachable';

/** The message contains neither the query, the key nor any part of the response. */
export class DifyError extends SourceError {
  readonly fault: DifyFault;
  /** HTTP status; undefined if there was no response. */
  readonly status: number | undefined;

  constructor(fault: DifyFault, message: string, { status, cause }: { status?: number; cause?: unknown } = {}) {
    super(CODES[fault], message, { cause });
    this.fault = fault;
    this.status = status;
  }
}

const CODES = {
  key_unreadable: 'refused',
  wrong_key: 'refused',
  no_such_knowledge: 'failed',
  senseless: 'failed',
  unreachable: 'away',
} as const;

/**
 * Sends one retrieval request. Reads the key file each time, so that a rotated key needs no restart.
 * @param limit maximum number of records
 * @throws DifyError; the signal's reason
 */
export async function retrieve(
  { address, knowledgeId, keyFile, condition }: DifyDefinition,
  { query, limit }: { query: string; limit: number },
  signal: AbortSignal,
): Promise<DifyRecord[]> {
  const headers: Record<string, string> = { accept: 'application/json' };
  if (keyFile !== undefined) headers['authorization'] = `Bearer ${readKey(keyFile)}`;
  const asked = {
    knowledge_id: knowledgeId,
    query,
    retrieval_setting: { top_k: limit, score_threshold: 0 },
    metadata_condition: condition,
  };
  const limits = { maxBytes: MAX_ANSWER_BYTES, timeoutMs: TIMEOUT_MS, signal };
  const { status, body } = await callHttp(address, { json: asked, headers, ...limits }).catch((cause: unknown) => {
    signal.throwIfAborted();
    if (cause instanceof HttpCallError && cause.code === 'too_large')
      throw new DifyError('senseless', 'The retrieval service returned too much data');
    throw new DifyError('unreachable', 'The retrieval service cannot be reached', { cause });
  });
  const json = parseJson(body.toString('utf8'));
  const fault = errorSchema.safeParse(json);
  const code = fault.success ? String(fault.data.error_code) : undefined;
  if (status === 401 || status === 403 || (code !== undefined && WRONG_KEY.has(code)))
    throw new DifyError('wrong_key', 'The retrieval service refuses the key', { status });
  if (code === NO_SUCH_KNOWLEDGE)
    throw new DifyError('no_such_knowledge', 'The retrieval service has no such knowledge base', { status });
  const read = answerSchema.safeParse(json);
  if (status !== 200 || fault.success || !read.success)
    throw new DifyError('senseless', `The retrieval service returned an unusable answer with status ${status}`, {
      status,
    });
  return read.data.records.flatMap((record) => recordSchema.safeParse(record).data ?? []);
}

function readKey(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (cause) {
    throw new DifyError('key_unreadable', 'The key of the retrieval service cannot be read', { cause });
  }
}
