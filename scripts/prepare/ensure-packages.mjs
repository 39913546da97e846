import { existsSync, statSync } from 'node:fs';
import { PreparationError, runStep } from './run-step.mjs';

const LOCK_FILE = 'package-lock.json';
// npm writes this file last, so it is absent after an interrupted installation.
const INSTALLED_MARK = 'node_modules/.package-lock.json';
// `npm install NAME` writes both files within moments of each other, in either order.
const SLACK_MS = 3_000;

/** Installs the packages of the lock file if they are absent or older than it. */
export function ensurePackages(say) {
  if (existsSync(INSTALLED_MARK) && statSync(INSTALLED_MARK).mtimeMs + SLACK_MS >= statSync(LOCK_FILE).mtimeMs) return;
  say('Installing packages (npm ci) ...');
  // The compiler is a development package, which NODE_ENV=production would exclude.
  const args = ['ci', '--ignore-scripts', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  // The npm that runs this script; any other is looked up in trusted directories.
  const own = process.env.npm_execpath;
  const isDone = own ? runStep(process.execPath, [own, ...args]) : runStep('npm', args);
  if (!isDone) {
    throw new PreparationError(
      'npm ci failed; see the error above. Without a network connection, copy node_modules from another machine.',
    );
  }
}
