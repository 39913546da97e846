import type { Log } from '../log.ts';

/** Levels that SIGUSR2 makes more verbose by more than one step. */
const MORE_VERBOSE: Readonly<Record<string, string>> = { debug: 'trace', trace: 'trace' };

/**
 * SIGUSR2 switches the log of this process between its level and a more verbose one: `debug`, or `trace` if the level is
 * `debug`. Nothing restarts, and other processes are not affected.
 */
export function switchVerbosityOnSignal(log: Log): void {
  const { level: usual } = log;
  const verbose = MORE_VERBOSE[usual] ?? 'debug';
  let isVerbose = false;
  process.on('SIGUSR2', () => {
    isVerbose = !isVerbose;
    // Written at the verbose level, which shows every line.
    log.level = verbose;
    log.info({ logLevel: isVerbose ? verbose : usual }, 'SIGUSR2 changed the log level of this process');
    log.level = isVerbose ? verbose : usual;
  });
}
