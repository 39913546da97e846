import { existsSync, readSync } from 'node:fs';
import { findProgram } from '../../src/shared/process/trusted-path.mjs';
import { PreparationError, runStep } from './run-step.mjs';

const REDIS_PROGRAMS = ['redis-server', 'valkey-server'];
/** Commands that install a server with each system's package manager, for manual installation. */
const INSTALLED_BY = [
  ['apt-get', 'sudo apt-get install redis-server'],
  ['dnf', 'sudo dnf install valkey, before RHEL 10 sudo dnf install redis'],
  ['yum', 'sudo yum install redis'],
  ['apk', 'sudo apk add valkey'],
  ['zypper', 'sudo zypper install valkey'],
  ['pacman', 'sudo pacman -S valkey'],
  ['brew', 'brew install redis'],
];
const BROWSER_PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const MAC_BROWSER = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';
/** Programs for the tests of the files that we ship or document, with their package names. */
const CONTAINER_PROGRAMS = ['docker-compose', 'caddy', 'nginx', 'prometheus'];
/** Where Debian installs servers; not included in every PATH. */
const SERVERS = '/usr/sbin';
const CHINESE_FONTS = '/usr/share/fonts/opentype/noto';

/** Finds a Redis to start, or installs one with the system's package manager. */
export function ensureRedis(say) {
  if (REDIS_PROGRAMS.some(isOnPath)) return;
  say('Installing redis-server ...');
  if (installWith({ apt: ['redis-server'], brew: ['redis'] }) && REDIS_PROGRAMS.some(isOnPath)) return;
  const by = INSTALLED_BY.find(([program]) => isOnPath(program))?.[1] ?? 'sudo apt-get install redis-server';
  throw new PreparationError(
    `Parley requires Redis or Valkey: install redis-server or valkey-server (on this machine with "${by}"), or set REDIS_URL for npm start.`,
  );
}

/**
 * Finds a browser for the browser tests, or installs one with fonts for Chinese. If that is impossible those tests are
 * skipped, except in CI, which must not pass without them.
 */
export function ensureBrowser(say) {
  const wanted = [];
  if (!hasBrowser()) wanted.push('chromium');
  if (process.platform === 'linux' && !existsSync(CHINESE_FONTS)) wanted.push('fonts-noto-cjk');
  if (wanted.length === 0) return;
  say(`Installing ${wanted.join(' and ')} for the browser tests ...`);
  installWith({ apt: wanted });
  if (hasBrowser()) return;
  const missing = 'Chromium is missing and could not be installed';
  if (process.env.CI === 'true') throw new PreparationError(`${missing}: install it, or set CHROMIUM_PATH.`);
  say(`${missing}; the browser tests will be skipped. To run them, install chromium or set CHROMIUM_PATH.`);
}

/**
 * Installs the programs that parse the container files in CI, where the tests that need them fail otherwise. Elsewhere they
 * are optional: those tests are skipped, and say so.
 */
export function ensureContainerPrograms(say) {
  const missing = () =>
    CONTAINER_PROGRAMS.filter((program) => !isOnPath(program) && findProgram(program, SERVERS) === undefined);
  const wanted = missing();
  if (wanted.length === 0) return;
  const names = new Intl.ListFormat('en').format(wanted);
  if (process.env.CI === 'true') {
    say(`Installing ${names} for the container tests ...`);
    if (installWith({ apt: wanted }) && missing().length === 0) return;
    say(`${names} could not be installed: the container tests that require it will fail.`);
  } else say(`Without ${names} some container tests are skipped. Install ${names} to run them.`);
}

function hasBrowser() {
  return Boolean(process.env.CHROMIUM_PATH) || BROWSER_PROGRAMS.some(isOnPath) || existsSync(MAC_BROWSER);
}

function isOnPath(program) {
  return findProgram(program) !== undefined;
}

/** Installs packages with apt-get (as root or through sudo) or Homebrew; returns false if neither is possible. */
function installWith({ apt = [], brew = [] }) {
  if (isOnPath('apt-get')) return installWithApt(apt);
  return brew.length > 0 && isOnPath('brew') && runStep('brew', ['install', ...brew]);
}

/** Asks for confirmation, because sudo may need no password. Without a terminal it cannot ask; then only CI continues. */
function mayUseSudo(packages) {
  if (process.env.CI === 'true') return true;
  if (!process.stdin.isTTY) return false;
  process.stderr.write(`Install ${packages.join(' ')} with sudo apt-get? [y/N] `);
  const answer = Buffer.alloc(64);
  const length = readSync(0, answer);
  return /^\s*y(es)?\s*$/i.test(answer.toString('utf8', 0, length));
}

function installWithApt(packages) {
  const isRoot = process.getuid?.() === 0;
  if (!isRoot && (!isOnPath('sudo') || !mayUseSudo(packages))) return false;
  const apt = (...args) => {
    const command = ['apt-get', '-q', '-o', 'DPkg::Lock::Timeout=120', ...args];
    if (isRoot) return runStep(command[0], command.slice(1), { DEBIAN_FRONTEND: 'noninteractive' });
    // Without a terminal sudo must not wait for a password.
    const sudoFlags = process.stdin.isTTY ? [] : ['-n'];
    return runStep('sudo', [...sudoFlags, 'DEBIAN_FRONTEND=noninteractive', ...command]);
  };
  const install = () => apt('install', '-y', '--no-install-recommends', ...packages);
  // The package lists of a fresh image are empty or old. They are fetched only when needed, because that is slow.
  return install() || (apt('update') && install());
}
