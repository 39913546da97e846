import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';

const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const MAC_BROWSER = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';

/** Maximum time for a page to show an expected state, since a loaded machine is slow. Below a test's own timeout. */
export const BROWSER_WAIT_MS = 45_000;

/** The sandbox is off since tests run as root in containers; the other flags prevent connections to external servers. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * Path of Chromium or Chrome: `CHROMIUM_PATH`, otherwise the first on PATH, otherwise Chrome's default on macOS.
 * @returns undefined if there is none; browser tests then skip themselves (`npm test` tries to install one before)
 */
export function findChromium(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const onPath = PROGRAMS.flatMap((program) => folders.map((folder) => join(folder, program)));
  return [process.env['CHROMIUM_PATH'] ?? '', ...onPath, MAC_BROWSER].find((path) => path !== '' && existsSync(path));
}

/**
 * Starts a headless browser with a fresh profile; the caller closes it.
 * @throws if none is installed: call `findChromium` first
 */
export async function launchChromium(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error('No Chromium was found; set CHROMIUM_PATH');
  return chromium.launch({ executablePath, args: FLAGS, headless: true });
}
