import type { App } from '../../bot/app/app.ts';
import { asError } from '../../shared/coded-error.ts';
import { inBackground } from '../../shared/in-background.ts';
import type { Log } from '../../shared/log.ts';
import { faultsOfLostLimits, faultsOfNamedFiles, filesInUse, type FileInUse } from '../check/config-files.ts';
import type { Config } from '../../bot/config/config.ts';

interface Rereader {
  config: Config;
  log: Log;
  /** Resolves when the parts are running. */
  app: Promise<App>;
}

/**
 * Reloads the files of `config/` on SIGHUP, one signal at a time. If any file has a fault, all faults are logged and nothing
 * changes. In local mode and at a terminal, SIGHUP means that the window was closed and ends the process as usual.
 */
export function reloadOnHangup({ config, log, app }: Rereader): void {
  if (config.mode === 'local' || process.stdin.isTTY) return;
  let reading = Promise.resolve();
  let inUse: readonly FileInUse[] = filesInUse(config).own;
  process.on('SIGHUP', () => {
    reading = reading.then(async () => {
      inUse = await reread({ config, log, app }, inUse);
    });
    inBackground(() => reading);
  });
}

/** @param inUse the operator's files that apply @returns those that apply afterwards */
async function reread({ config, log, app }: Rereader, inUse: readonly FileInUse[]): Promise<readonly FileInUse[]> {
  const running = await app;
  try {
    const faults = [...(await faultsOfNamedFiles(config)), ...faultsOfLostLimits(inUse, config)];
    if (faults.length > 0) {
      log.error(
        { faults },
        'the files were not reloaded and the previous ones stay in use: correct them, then send SIGHUP again',
      );
      running.filesRejected(faults.length);
      return inUse;
    }
    const { own } = filesInUse(config);
    await running.reread();
    log.info({ own: own.map(({ setting }) => setting) }, 'the files were reloaded and apply from now on');
    return own;
  } catch (thrown) {
    running.filesRejected(1);
    log.error({ error: asError(thrown) }, 'the files could not be reloaded and the previous ones stay in use');
    return inUse;
  }
}
