import { hashParts } from '../../../shared/crypto/ids.ts';
import type { Found } from '../knowledge.ts';
import { mayRead, readReaders, type Reader } from '../readers.ts';
import type { RemoteSource } from '../remote-source.ts';
import type { DifyDefinition } from '../source-kinds.ts';
import { retrieve, type DifyRecord } from './retrieve.ts';
import { parseJson } from '../../../shared/parse-json.ts';

/** More than are returned, because some may be filtered out for this reader. */
const ASKED_RECORDS = 20;
const MAX_TEXT_CHARS = 2_000;
const MAX_TITLE_CHARS = 200;

/** A retrieval service that implements Dify's External Knowledge API, such as RAGFlow. */
export function createDifySource(definition: DifyDefinition): RemoteSource {
  const { name, readers } = definition;
  return {
    name,
    async search(query, reader, limit, signal) {
      // Readers without access to the source cause no request.
      if (!mayRead(readers, reader)) return [];
      const records = await retrieve(definition, { query, limit: ASKED_RECORDS }, signal);
      return records
        .filter((record) => record.content.trim() !== '' && mayReadRecord(record, reader))
        .sort((one, other) => other.score - one.score)
        .slice(0, limit)
        .map((record) => foundOf(name, record));
    },
  };
}

/** A record may restrict the readers of its source further (SECURITY.md knowledge-rights). */
function mayReadRecord({ metadata }: DifyRecord, reader: Reader): boolean {
  return !Object.hasOwn(metadata, 'readers') || mayRead(readReaders(parsed(metadata['readers'])), reader);
}

/** Many services store metadata values as text. */
function parsed(written: unknown): unknown {
  return typeof written === 'string' && written.trim().startsWith('{') ? parseJson(written) : written;
}

function foundOf(source: string, { content, title, score, metadata }: DifyRecord): Found {
  const said = (...names: string[]) => names.map((name) => metadata[name]).find((value) => typeof value === 'string');
  const url = webAddressOf(said('url', 'source_url', 'link', 'source'));
  const path = said('path', 'document_name', 'file_name', 'title');
  const named = [title, said('title', 'document_name', 'file_name', 'path')].find((one) => one?.trim());
  const whole = (named ?? source).replace(/\s+/g, ' ').trim().slice(0, MAX_TITLE_CHARS);
  const documentId = said('document_id', 'doc_id', 'id') ?? url ?? path ?? whole;
  return {
    documentId: hashParts(source, documentId).slice(0, 16),
    source,
    title: whole,
    text: content.slice(0, MAX_TEXT_CHARS),
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
