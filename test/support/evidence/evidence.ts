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

/** One line of `secrets/*.jsonl`. What is public is no secret, although a test may use it as one. */
export interface KnownValue {
  kind: SecretKind | 'public';
  value: string;
}

export interface KnownSecret extends KnownValue {
  kind: SecretKind;
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

/** Different letters of a secret at least. */
const LEAST_LETTERS = 6;
const known = new Set<string>();

/** Says that a value is secret: it may stand in no evidence of this run. */
export function registerSecret(kind: SecretKind, value: string | undefined): void {
  // What repeats a few letters is a test's filler, and stands everywhere.
  if (value !== undefined && new Set(value).size >= LEAST_LETTERS) register({ kind, value });
}

/** Says that a value is none, wherever it is seen besides. */
export function registerPublic(value: string): void {
  register({ kind: 'public', value });
}

function register(value: KnownValue): void {
  const line = `${JSON.stringify(value)}\n`;
  if (known.has(line)) return;
  known.add(line);
  append('secrets', `${testName()}.jsonl`, line);
}

function append(folder: string, file: string, text: string): void {
  const root = process.env['PARLEY_EVIDENCE_DIR'];
  if (root === undefined) return;
  mkdirSync(join(root, folder), { recursive: true });
  appendFileSync(join(root, folder, file), text);
}

/** Whether the running test file sends nonsense on purpose: what it sends is nobody's secret then. */
export function isFuzzing(): boolean {
  return testName().includes('fuzz');
}

function testName(): string {
  return basename(expect.getState().testPath ?? 'test', '.test.ts');
}
