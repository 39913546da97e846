import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { PreparationError } from './run-step.mjs';

/** Written as the last act of a build; its age is the build's. */
export const BUILD_MARK = 'dist/.built';
const SOURCES = [
  'src',
  'scripts/build.mjs',
  'scripts/build',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'tsconfig.page.json',
];

/** Compiles src to dist when anything in src is newer than the last complete build. */
export async function ensureBuilt(say) {
  if (existsSync(BUILD_MARK) && SOURCES.every((path) => newestChangeMs(path) <= statSync(BUILD_MARK).mtimeMs)) return;
  say('Compiling ...');
  // Loaded only now: it imports packages, which were perhaps installed a moment ago.
  const { build } = await import('../build.mjs');
  const fault = await build();
  if (fault) throw new PreparationError(`The sources do not compile:\n${fault}`);
}

/** When a file, or anything in a folder, last changed; a folder's own time tells of removed files. */
function newestChangeMs(path) {
  const status = statSync(path, { throwIfNoEntry: false });
  if (!status) return 0;
  if (!status.isDirectory()) return status.mtimeMs;
  return Math.max(status.mtimeMs, ...readdirSync(path).map((name) => newestChangeMs(join(path, name))));
}
