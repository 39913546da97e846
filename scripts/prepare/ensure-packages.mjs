import { existsSync, statSync } from 'node:fs';
import { PreparationError, runStep } from './run-step.mjs';

const LOCK_FILE = 'package-lock.json';
// npm writes this one last, so it is absent after an interrupted installation.
const INSTALLED_MARK = 'node_modules/.package-lock.json';
// `npm install NAME` writes both files within moments of each other, in either order.
const SLACK_MS = 3_000;

/** Installs the packages of the lock file when they are absent or older than it. */
export function ensurePackages(say) {
  if (existsSync(INSTALLED_MARK) && statSync(INSTALLED_MARK).mtimeMs + SLACK_MS >= statSync(LOCK_FILE).mtimeMs) return;
  say('Installing packages (npm ci) ...');
  // The compiler is a development package, also where NODE_ENV=production hides those.
  const args = ['ci', '--ignore-scripts', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  // The npm that runs this; another one is looked up in trusted folders.
  const own = process.env.npm_execpath;
  const isDone = own ? runStep(process.execPath, [own, ...args]) : runStep('npm', args);
  if (!isDone) {
    throw new PreparationError(
      'npm ci failed; its reason stands above. Without a network, copy node_modules from elsewhere.',
    );
  }
}
