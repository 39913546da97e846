import { appendFileSync, mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect } from '@jest/globals';

/**
 * What a run of the tests leaves to be searched for secrets at its end (global-teardown.ts): log lines, pages, metrics
 * and what was written to Redis; and beside it, which secrets there were.
 */
export type EvidenceKind = 'logs' | 'redis' | 'metrics' | 'pages';

/** What must be found in no evidence: small sets, so that a finding can be told without telling the secret. */
export type SecretKind =
  'key' | 'client secret' | 'password' | 'cookie' | 'ticket' | 'code' | 'state' | 'verifier' | 'token' | 'text';

/** One line of `secrets/*.jsonl`. */
export interface KnownSecret {
  kind: SecretKind;
  value: string;
}

let count = 0;

/** Keeps a text as evidence; nothing happens outside of a run of the tests. */
export function keepEvidence(kind: EvidenceKind, text: string): void {
  append(kind, `${testName()}.txt`, text.endsWith('\n') ? text : `${text}\n`);
}

/** A folder for a redis-server's append-only file, which holds every write that it was ever asked for; undefined outside of a run. */
export function redisEvidenceFolder(): string | undefined {
  const root = process.env['PARLEY_EVIDENCE_DIR'];
  return root === undefined ? undefined : join(root, 'redis', `${testName()}-${(count += 1)}`);
}

const known = new Set<string>();

/** Says that a value is secret: from now on it may stand in no evidence of this run. */
export function registerSecret(kind: SecretKind, value: string | undefined): void {
  if (value === undefined || value === '' || known.has(value)) return;
  known.add(value);
  append('secrets', `${testName()}.jsonl`, `${JSON.stringify({ kind, value } satisfies KnownSecret)}\n`);
}

function append(folder: string, file: string, text: string): void {
  const root = process.env['PARLEY_EVIDENCE_DIR'];
  if (root === undefined) return;
  mkdirSync(join(root, folder), { recursive: true });
  appendFileSync(join(root, folder, file), text);
}

function testName(): string {
  return basename(expect.getState().testPath ?? 'test', '.test.ts');
}
