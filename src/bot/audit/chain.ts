import type { KeyObject } from 'node:crypto';
import { hmacBase64Url } from '../../shared/crypto/ids.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { parseJson } from '../../shared/parse-json.ts';
import type { AuditClass } from '../domain/audit-entry.ts';

const PURPOSE = 'audit-chain';
const LINE = /^(\{.*),"hash":"([\w-]{43})"\}$/s;

/** Where a file ends: its size, its number of lines and the hash of the last one. */
export interface FileEnd {
  file: string;
  bytes: number;
  lines: number;
  hash: string;
}

/** First line of a file. */
export interface FileHead {
  file: string;
  /** Id of the key that the hashes are made with. */
  key: string;
  /** End of the file before it; null for the first file of its class. */
  follows: FileEnd | null;
}

/** Name of a file. Names sort in the order in which the files were written. */
export function fileName(kind: AuditClass, day: string, epoch: number): string {
  return `${kind}.${day}.${String(epoch).padStart(8, '0')}.jsonl`;
}

/** The day of a file, as in its name. */
export function dayOfFile(file: string): string {
  return file.split('.')[1] ?? '';
}

/** The key that chains new lines. */
export function chainKey(keyRing: KeyRing): KeyObject {
  return keyRing.deriveKey(PURPOSE);
}

/** The key of a file; undefined if the ring no longer has it. */
export function chainKeyOf(keyRing: KeyRing, keyId: string): KeyObject | undefined {
  return keyRing.deriveKeys(PURPOSE)[keyRing.keyIds.indexOf(keyId)];
}

/**
 * A line whose hash covers the line and the hash before it, so that a line that is changed, removed, added or moved breaks the
 * chain (SECURITY.md audit-record). The hash is keyed: without SECRET_KEY it cannot be computed again.
 */
export function chainLine(key: KeyObject, previous: string, record: object): { line: string; hash: string } {
  const body = JSON.stringify(record);
  const hash = hashOf(key, previous, body);
  return { line: `${body.slice(0, -1)},"hash":"${hash}"}\n`, hash };
}

/** Checks one line, without its line feed. @returns the hash and the record; undefined if the chain is broken here */
export function checkLine(
  key: KeyObject,
  previous: string,
  line: string,
): { hash: string; record: unknown } | undefined {
  const [, body, hash] = LINE.exec(line) ?? [];
  if (body === undefined || hash === undefined || hashOf(key, previous, `${body}}`) !== hash) return undefined;
  return { hash, record: parseJson(`${body}}`) };
}

function hashOf(key: KeyObject, previous: string, body: string): string {
  return hmacBase64Url(key, `${previous}\n${body}`);
}

/** Reads the first line of a file without checking its hash. */
export function readHead(line: string): FileHead | undefined {
  const head = parseJson(line) as Partial<FileHead> | undefined | null;
  return typeof head?.file === 'string' && typeof head.key === 'string' ? (head as FileHead) : undefined;
}

export function readEnd(text: string | undefined): FileEnd | undefined {
  const end = parseJson(text ?? '') as Partial<FileEnd> | undefined | null;
  return typeof end?.file === 'string' && typeof end.bytes === 'number' ? (end as FileEnd) : undefined;
}
