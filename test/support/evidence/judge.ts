import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ALLOWANCES, type Allowance } from './allowances.ts';
import type { EvidenceKind, KnownSecret, KnownValue } from './evidence.ts';
import { ByteFinder, type Hit } from './find-bytes.ts';
import { formsOf, type Form } from './forms.ts';
import { writesOf } from './redis-writes.ts';

/** A secret in a forbidden place, reported without its value. */
export interface Finding {
  evidence: EvidenceKind;
  file: string;
  /** Line of a text, or number of a write to Redis; from 1. */
  line: number;
  secret: string;
  /** The test that uses the secret. */
  of: string;
  form: string;
}

export interface Judgement {
  findings: Finding[];
  searched: { secrets: number; forms: number; bytes: number; lines: number };
}

interface FoundSecret extends KnownSecret {
  of: string;
}

interface Needle extends Form {
  secret: FoundSecret;
}

const KINDS: readonly EvidenceKind[] = ['logs', 'redis', 'metrics', 'pages'];
const AROUND_BYTES = 160;

/** Searches the evidence of a test run for every registered secret. @param root the run's evidence folder */
export function judgeEvidence(root: string, allowances: readonly Allowance[] = ALLOWANCES): Judgement {
  const secrets = readSecrets(root);
  const needles = secrets.flatMap((secret) => formsOf(secret).map((form) => ({ ...form, secret })));
  const finder = new ByteFinder<Needle>(needles);
  const searched = { secrets: secrets.length, forms: needles.length, bytes: 0, lines: 0 };
  const findings = new Map<string, Finding>();
  const seen = new Set<string>();
  for (const evidence of KINDS) {
    for (const file of filesUnder(join(root, evidence))) {
      const bytes = readFileSync(join(root, evidence, file));
      searched.bytes += bytes.length;
      let line = 0;
      for (const part of evidence === 'redis' ? writesOf(bytes) : linesOf(bytes)) {
        line += 1;
        if (evidence === 'pages' && isRepeated(part, seen)) continue;
        for (const hit of finder.find(part)) {
          if (allowances.some((allowance) => allows(allowance, evidence, part, hit))) continue;
          const { secret, name: form } = hit.needle;
          const finding = { evidence, file, line, secret: secret.kind, of: secret.of, form };
          findings.set(JSON.stringify(finding), finding);
        }
      }
      searched.lines += line;
    }
  }
  return { findings: [...findings.values()], searched };
}

function allows(allowance: Allowance, evidence: EvidenceKind, part: Buffer, { needle, at }: Hit<Needle>): boolean {
  if (allowance.evidence !== evidence || allowance.secret !== needle.secret.kind) return false;
  // The context is that of the whole secret, of which the needle may be the beginning or the end.
  const reach = AROUND_BYTES + Math.max(0, needle.secret.value.length - needle.bytes.length);
  const around = part.toString('utf8', Math.max(0, at - reach), at + needle.bytes.length + reach);
  return allowance.around.test(around);
}

/** Most lines of pages are identical, so each is searched once. */
function isRepeated(line: Buffer, seen: Set<string>): boolean {
  const text = line.toString('latin1');
  if (seen.has(text)) return true;
  seen.add(text);
  return false;
}

function readSecrets(root: string): FoundSecret[] {
  const known = new Map<string, KnownValue & { of: string }>();
  for (const file of filesUnder(join(root, 'secrets')))
    for (const line of readFileSync(join(root, 'secrets', file), 'utf8').split('\n'))
      if (line !== '' && !known.has(line))
        known.set(line, { ...(JSON.parse(line) as KnownValue), of: basename(file, '.jsonl') });
  const open = new Set([...known.values()].flatMap(({ kind, value }) => (kind === 'public' ? [value] : [])));
  return [...known.values()].flatMap(({ kind, value, of }) =>
    kind === 'public' || open.has(value) ? [] : [{ kind, value, of }],
  );
}

function filesUnder(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const all = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return all.filter((path) => statSync(join(folder, path)).isFile()).toSorted();
}

function* linesOf(bytes: Buffer): Generator<Buffer> {
  for (let from = 0; from < bytes.length;) {
    const end = bytes.indexOf(10, from);
    yield bytes.subarray(from, end < 0 ? bytes.length : end);
    from = end < 0 ? bytes.length : end + 1;
  }
}
