import { rmSync } from 'node:fs';
import { basename } from 'node:path';
import { judgeEvidence, type Finding } from './judge.ts';

/** Maximum number of reported lines per file; for Redis, numbers of writes. */
const MAX_PLACES = 5;

/**
 * After the last test of a run: no known secret may occur in the evidence (SECURITY.md secrets-stay-inside, scrubbed-logs).
 * Then deletes the evidence, unless PARLEY_EVIDENCE_DIR named the folder.
 * @throws Error that fails the run with each place, but without the secret
 */
function closeEvidence(): void {
  const root = process.env['PARLEY_EVIDENCE_DIR'];
  if (root === undefined) return;
  const before = process.cpuUsage();
  const { findings, searched } = judgeEvidence(root);
  if (basename(root).startsWith('parley-evidence-')) rmSync(root, { recursive: true, force: true });
  const { user, system } = process.cpuUsage(before);
  const { secrets, forms, bytes, lines } = searched;
  const megabytes = (bytes / 1e6).toFixed(1);
  process.stderr.write(
    `Secrets search: ${secrets} secrets (${forms} forms) in ${lines} lines, ${megabytes} MB, ${Math.round((user + system) / 1e3)} ms of processor time\n`,
  );
  if (findings.length > 0) throw new Error(`${findings.length} places hold a secret:\n${tell(findings)}`);
}

/** One line for each file and kind of secret, with its first places. */
function tell(findings: readonly Finding[]): string {
  const places = new Map<string, number[]>();
  for (const { evidence, file, line, secret, of, form } of findings) {
    const what = `a ${secret} of ${of}, ${form}, in ${evidence}/${file}`;
    places.set(what, [...(places.get(what) ?? []), line]);
  }
  return [...places]
    .map(([what, lines]) => `  ${what}: ${lines.length} times, at ${lines.slice(0, MAX_PLACES).join(', ')}`)
    .join('\n');
}

export { closeEvidence as default };
