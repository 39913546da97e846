// Makes a fresh clone ready to run, using only Node's built-in modules: packages, redis-server, a browser for the tests,
// dist/.
// Usage: node scripts/prepare.mjs start|test [--quiet]. Each step checks first, so that a second run takes milliseconds.
import { keepTrustedPath } from '../src/shared/process/trusted-path.mjs';
import { findSettingByName } from './prepare/find-setting.mjs';
import { ensureBuilt } from './prepare/ensure-built.mjs';
import { ensureBrowser, ensureContainerPrograms, ensureRedis } from './prepare/ensure-programs.mjs';
import { ensurePackages } from './prepare/ensure-packages.mjs';
import { PreparationError } from './prepare/run-step.mjs';

const OLDEST_NODE = [20, 19];

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_NODE;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return;
  throw new PreparationError(
    `Parley requires Node ${OLDEST_NODE.join('.')} or newer; this is ${process.versions.node}. Install it from https://nodejs.org.`,
  );
}

function checkSystem() {
  if (process.platform !== 'win32') return;
  throw new PreparationError(
    'On Windows, Parley runs in WSL2: install it with "wsl --install" and run this command again there.',
  );
}

async function prepare(purpose, say) {
  checkSystem();
  checkNode();
  ensurePackages(say);
  // Tests start their own redis-server, whatever Redis the settings name.
  if (purpose === 'test' || !findSettingByName('REDIS_URL')) ensureRedis(say);
  if (purpose === 'test') {
    ensureBrowser(say);
    ensureContainerPrograms(say);
  }
  await ensureBuilt(say);
}

const [purpose = 'start', ...flags] = process.argv.slice(2);
keepTrustedPath();
const isQuiet = flags.includes('--quiet');
try {
  await prepare(purpose, (line) => {
    if (!isQuiet) console.error(line);
  });
} catch (error) {
  if (!(error instanceof PreparationError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
