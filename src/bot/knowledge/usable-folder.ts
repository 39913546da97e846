import { lstatSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashParts, randomToken } from '../../shared/crypto/ids.ts';

const NAME_CHARS = 12;

/**
 * Returns the folder, created if necessary. If it is not writable, returns a temporary folder that stays the same across
 * restarts.
 * @returns undefined if neither is writable
 */
export function usableFolder(folder: string): string | undefined {
  return [folder, temporary(folder)].find(isUsable);
}

function isUsable(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const stats = lstatSync(folder);
    // In a world-writable directory, another user may have created it first.
    if (stats.uid !== process.getuid?.() || !stats.isDirectory()) return false;
    const probe = join(folder, `index.json.${randomToken(NAME_CHARS)}`);
    writeFileSync(probe, '', { mode: 0o600 });
    rmSync(probe);
    return true;
  } catch {
    return false;
  }
}

/** A fixed name, so that restarts reuse the folder instead of adding new ones. */
function temporary(folder: string): string {
  return join(tmpdir(), `parley-index-${hashParts(folder).slice(0, NAME_CHARS)}`);
}
