import { lstatSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashParts, randomToken } from '../../shared/crypto/ids.ts';

const NAME_CHARS = 12;

/**
 * The folder, made where there is none; where nothing can be written there, one for temporary files, the same after a restart.
 * @returns undefined where that cannot be written either
 */
export function usableFolder(folder: string): string | undefined {
  return [folder, temporary(folder)].find(isUsable);
}

function isUsable(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const stats = lstatSync(folder);
    // Where everybody may make folders, somebody may have been faster.
    if (stats.uid !== process.getuid?.() || !stats.isDirectory()) return false;
    const probe = join(folder, `index.json.${randomToken(NAME_CHARS)}`);
    writeFileSync(probe, '', { mode: 0o600 });
    rmSync(probe);
    return true;
  } catch {
    return false;
  }
}

/** Beside what others may write: the same one after a restart, so that these do not add up. */
function temporary(folder: string): string {
  return join(tmpdir(), `parley-index-${hashParts(folder).slice(0, NAME_CHARS)}`);
}
