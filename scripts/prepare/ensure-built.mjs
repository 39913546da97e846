import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { PreparationError } from './run-step.mjs';

/** Written at the end of a build; its age is the build's. */
export const BUILD_MARK = 'dist/.built';
const SOURCES = [
  'src',
  'scripts/build.mjs',
  'scripts/build',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'src/simulator/web/tsconfig.json',
];

/** Compiles src to dist if anything in src is newer than the last complete build. */
export async function ensureBuilt(say) {
  if (existsSync(BUILD_MARK) && SOURCES.every((path) => newestChangeMs(path) <= statSync(BUILD_MARK).mtimeMs)) return;
  say('Compiling ...');
  // Imported only now, because it imports packages that may have been installed a moment ago.
  const { build } = await import('../build.mjs');
  const fault = await build();
  if (fault) throw new PreparationError(`The source code does not compile:\n${fault}`);
}

/** Last change of a file, or of anything in a directory; a directory's own time reveals removed files. */
function newestChangeMs(path) {
  const status = statSync(path, { throwIfNoEntry: false });
  if (!status) return 0;
  if (!status.isDirectory()) return status.mtimeMs;
  return Math.max(status.mtimeMs, ...readdirSync(path).map((name) => newestChangeMs(join(path, name))));
}
