import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Before the first test of a run: the folder for its evidence, unless one was named to be kept. */
function openEvidence(): void {
  process.env['PARLEY_EVIDENCE_DIR'] ??= mkdtempSync(join(tmpdir(), 'parley-evidence-'));
}

export { openEvidence as default };
