import { readFileSync } from 'node:fs';
import { request } from 'undici';
import { z } from 'zod';
import { MIB_BYTES } from '../../base/clock.ts';
import { hashParts } from '../../base/ids.ts';
import { outgoing } from '../../base/outgoing.ts';
import type { Found } from '../knowledge.ts';
import { mayRead, readReaders, type Reader } from '../readers.ts';
import type { DifyDefinition } from '../source-kinds.ts';
import { SourceError, type RemoteSource } from '../remote-source.ts';

const MOST_ANSWER_BYTES = 2 * MIB_BYTES;
/** Some of them may be nobody's, or not this reader's. */
const ASKED_RECORDS = 20;
const MOST_TEXT_CHARS = 2_000;
const MOST_TITLE_CHARS = 200;

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

type DifyRecord = z.output<typeof recordSchema>;

/** A retrieval service that speaks Dify's External Knowledge interface, as RAGFlow and others do. */
export function createDifySource(definition: DifyDefinition): RemoteSource {
  const { name, address, knowledgeId, keyFile, condition, readers } = definition;
  return {
    name,
    async search(query, reader, most, signal) {
      // Whoever may read nothing of it has nothing asked in their name.
      if (!mayRead(readers, reader)) return [];
      const key = keyFile === undefined ? undefined : readKey(keyFile);
      const body = JSON.stringify({
        knowledge_id: knowledgeId,
        query,
        retrieval_setting: { top_k: ASKED_RECORDS, score_threshold: 0 },
        metadata_condition: condition,
      });
      const records = await ask(address, key, body, signal);
      return records
        .filter((record) => record.content.trim() !== '' && mayReadRecord(record, reader))
        .sort((one, other) => other.score - one.score)
        .slice(0, most)
        .map((record) => foundOf(name, record));
    },
  };
}

/** A record may narrow whom it is for; what it says counts only where it says something (SECURITY.md knowledge-rights). */
function mayReadRecord({ metadata }: DifyRecord, reader: Reader): boolean {
  return !Object.hasOwn(metadata, 'readers') || mayRead(readReaders(parsed(metadata['readers'])), reader);
}

/** Services keep metadata as text more often than not. */
function parsed(written: unknown): unknown {
  if (typeof written !== 'string' || !written.trim().startsWith('{')) return written;
  try {
    return JSON.parse(written);
  } catch {
    return undefined;
  }
}

/** @throws SourceError, whose words hold neither query nor key nor anything of the answer */
async function ask(address: string, key: string | undefined, body: string, signal: AbortSignal): Promise<DifyRecord[]> {
  const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'application/json' };
  if (key !== undefined) headers['authorization'] = `Bearer ${key}`;
  let status: number;
  let text: string;
  try {
    const answer = await request(address, { method: 'POST', headers, body, dispatcher: outgoing, signal });
    status = answer.statusCode;
    text = await readBounded(answer.body);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof SourceError) throw error;
    throw new SourceError('away', 'The retrieval service cannot be reached');
  }
  const json = jsonOf(text);
  const fault = errorSchema.safeParse(json);
  if (status === 401 || status === 403 || (fault.success && WRONG_KEY.has(String(fault.data.error_code))))
    throw new SourceError('refused', 'The retrieval service takes no such key');
  const read = answerSchema.safeParse(json);
  if (status !== 200 || fault.success || !read.success)
    throw new SourceError('failed', `The retrieval service answered with status ${status} what cannot be used`);
  return read.data.records.flatMap((record) => recordSchema.safeParse(record).data ?? []);
}

async function readBounded(body: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  let sizeBytes = 0;
  for await (const piece of body) {
    sizeBytes += piece.length;
    if (sizeBytes > MOST_ANSWER_BYTES) throw new SourceError('failed', 'The retrieval service sends too much');
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

/** Read for each search, so that a new key needs no restart. */
function readKey(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    throw new SourceError('refused', 'The key of the retrieval service cannot be read');
  }
}

function foundOf(source: string, { content, title, score, metadata }: DifyRecord): Found {
  const said = (...names: string[]) => names.map((name) => metadata[name]).find((value) => typeof value === 'string');
  const url = webAddressOf(said('url', 'source_url', 'link', 'source'));
  const path = said('path', 'document_name', 'file_name', 'title');
  const named = [title, said('title', 'document_name', 'file_name', 'path')].find((one) => one?.trim());
  const whole = (named ?? source).replace(/\s+/g, ' ').trim().slice(0, MOST_TITLE_CHARS);
  const documentId = said('document_id', 'doc_id', 'id') ?? url ?? path ?? whole;
  return {
    documentId: hashParts(source, documentId).slice(0, 16),
    source,
    title: whole,
    text: content.slice(0, MOST_TEXT_CHARS),
    url,
    date: dayOf(said('date', 'updated_at', 'modified', 'created_at')),
    score: Math.min(1, Math.max(0, score)),
  };
}

function webAddressOf(given: unknown): string | undefined {
  if (typeof given !== 'string' || !URL.canParse(given)) return undefined;
  const url = new URL(given);
  return /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' ? url.href : undefined;
}

function dayOf(given: unknown): string | undefined {
  return typeof given === 'string' ? /^\d{4}-\d{2}-\d{2}(?!\d)/.exec(given)?.[0] : undefined;
}
