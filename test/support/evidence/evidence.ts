import { appendFileSync, mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect } from '@jest/globals';
import { isDistinctive } from './forms.ts';

/**
 * Evidence of a test run that is searched for secrets at its end (global-teardown.ts): log lines, pages, metrics and writes
 * to Redis, together with the list of secrets.
 */
export type EvidenceKind = 'logs' | 'redis' | 'metrics' | 'pages';

/**
 * Kinds of values that must not occur in any evidence. The sets are small, so that a finding can be reported without the
 * secret.
 */
export type SecretKind =
  'key' | 'client secret' | 'password' | 'cookie' | 'ticket' | 'code' | 'state' | 'verifier' | 'token' | 'text';

/** One line of `secrets/*.jsonl`. A public value is not a secret, although a test may use it as one. */
export interface KnownValue {
  kind: SecretKind | 'public';
  value: string;
}

export interface KnownSecret extends KnownValue {
  kind: SecretKind;
}

let count = 0;

/** Stores a text as evidence; does nothing outside of a test run. */
export function keepEvidence(kind: EvidenceKind, text: string): void {
  append(kind, `${testName()}.txt`, text.endsWith('\n') ? text : `${text}\n`);
}

/** A folder for a redis-server's append-only file, which contains every write; undefined outside of a test run. */
export function redisEvidenceFolder(): string | undefined {
  const root = process.env['PARLEY_EVIDENCE_DIR'];
  return root === undefined ? undefined : join(root, 'redis', `${testName()}-${(count += 1)}`);
}

const known = new Set<string>();

/** Registers a value as secret: it may occur in no evidence of this run. */
export function registerSecret(kind: SecretKind, value: string | undefined): void {
  if (value !== undefined && isDistinctive(value)) register({ kind, value });
}

/** Registers a value as public, wherever else it occurs. */
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

/** Whether the running test file sends random data, which then does not count as secret. */
export function isFuzzing(): boolean {
  return testName().includes('fuzz');
}

function testName(): string {
  return basename(expect.getState().testPath ?? 'test', '.test.ts');
}
