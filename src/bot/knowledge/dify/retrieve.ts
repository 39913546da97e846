import { readFileSync } from 'node:fs';
import { request } from 'undici';
import { z } from 'zod';
import { MIB_BYTES } from '../../../shared/clock.ts';
import { outgoing } from '../../../shared/http/http-agent.ts';
import { SourceError } from '../remote-source.ts';
import type { DifyDefinition } from '../source-kinds.ts';

const MOST_ANSWER_BYTES = 2 * MIB_BYTES;

/** What is missing or odd in one record says nothing about the others. */
const recordSchema = z.object({
  content: z.string().catch(''),
  title: z.string().catch(''),
  score: z.number().catch(0),
  metadata: z.record(z.string(), z.unknown()).catch({}),
});
const answerSchema = z.object({ records: z.array(z.unknown()) });
const errorSchema = z.object({ error_code: z.union([z.number(), z.string()]) });
/** Codes by which such a service says that its key is wrong. */
const WRONG_KEY = new Set(['1001', '1002']);
/** And that it has no knowledge base of this id. */
const NO_SUCH_KNOWLEDGE = '2001';

export type DifyRecord = z.output<typeof recordSchema>;

/** More exactly why: what an administrator has to mend. */
export type DifyFault = 'key_unreadable' | 'wrong_key' | 'no_such_knowledge' | 'senseless' | 'unreachable';

/** Its words hold neither query nor key nor anything of the answer. */
export class DifyError extends SourceError {
  readonly fault: DifyFault;
  /** The HTTP status, where one came. */
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
 * Asks once, with the key as the file holds it now, so that a new one needs no restart.
 * @param most records that are asked for @throws DifyError; the signal's reason
 */
export async function retrieve(
  { address, knowledgeId, keyFile, condition }: DifyDefinition,
  { query, most }: { query: string; most: number },
  signal: AbortSignal,
): Promise<DifyRecord[]> {
  const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'application/json' };
  if (keyFile !== undefined) headers['authorization'] = `Bearer ${readKey(keyFile)}`;
  const body = JSON.stringify({
    knowledge_id: knowledgeId,
    query,
    retrieval_setting: { top_k: most, score_threshold: 0 },
    metadata_condition: condition,
  });
  let status: number;
  let text: string;
  try {
    const answer = await request(address, { method: 'POST', headers, body, dispatcher: outgoing, signal });
    status = answer.statusCode;
    text = await readBounded(answer.body);
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof SourceError) throw cause;
    throw new DifyError('unreachable', 'The retrieval service cannot be reached', { cause });
  }
  const json = jsonOf(text);
  const fault = errorSchema.safeParse(json);
  const code = fault.success ? String(fault.data.error_code) : undefined;
  if (status === 401 || status === 403 || (code !== undefined && WRONG_KEY.has(code)))
    throw new DifyError('wrong_key', 'The retrieval service takes no such key', { status });
  if (code === NO_SUCH_KNOWLEDGE)
    throw new DifyError('no_such_knowledge', 'The retrieval service has no such knowledge base', { status });
  const read = answerSchema.safeParse(json);
  if (status !== 200 || fault.success || !read.success)
    throw new DifyError('senseless', `The retrieval service answered with status ${status} what cannot be used`, {
      status,
    });
  return read.data.records.flatMap((record) => recordSchema.safeParse(record).data ?? []);
}

async function readBounded(body: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  let sizeBytes = 0;
  for await (const piece of body) {
    sizeBytes += piece.length;
    if (sizeBytes > MOST_ANSWER_BYTES) throw new DifyError('senseless', 'The retrieval service sends too much');
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readKey(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (cause) {
    throw new DifyError('key_unreadable', 'The key of the retrieval service cannot be read', { cause });
  }
}
