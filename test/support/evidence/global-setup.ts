import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Before the first test of a run: creates the folder for evidence, unless the environment names one to keep. */
function openEvidence(): void {
  process.env['PARLEY_EVIDENCE_DIR'] ??= mkdtempSync(join(tmpdir(), 'parley-evidence-'));
}

export { openEvidence as default };
