import { startApp } from './app.ts';
import { asError } from './base/coded-error.ts';
import { createLog } from './base/log.ts';
import { listenForStop } from './base/stop-signals.ts';
import { EXIT } from './exit-codes.ts';
import { greet } from './greet.ts';
import type { LoadedSettings } from './settings/load-settings.ts';
import { failureOfStart } from './start-failure.ts';
import { looksAtStart, watchTroubles } from './start-troubles.ts';
import type { MovedPort } from './take-free-ports.ts';

/**
 * Runs until a signal comes. SIGTERM and SIGINT stop in order, also while it starts; whoever sends another one later ends
 * it at once (security.md 4.9).
 */
export async function runStartCommand(
  { config, secrets }: Extract<LoadedSettings, { ok: true }>,
  moved: readonly MovedPort[],
): Promise<void> {
  const log = createLog(config.log);
  let isUp = false;
  const crash = (thrown: unknown) => {
    const error = asError(thrown);
    if (isUp) {
      log.fatal({ error }, 'Parley cannot go on');
      process.exit(EXIT.crash);
    }
    const { sentence, isOfSettings } = failureOfStart(error, config);
    log.debug({ error }, 'the start came to nothing');
    process.stderr.write(`${sentence}\n`);
    process.exit(isOfSettings ? EXIT.settings : EXIT.crash);
  };
  // Nothing is known about the state after an error that nobody caught: log it, end, start afresh (security.md 4.13).
  process.on('uncaughtException', crash);
  process.on('unhandledRejection', crash);

  let isStopping = false;
  let endWatch: (() => void) | undefined;
  const wasStopped = () => isStopping;
  const stop = (exitCode: number) => {
    if (isStopping) return;
    isStopping = true;
    endWatch?.();
    log.info('stopping in order');
    // What cannot start has stopped all by itself.
    const stopped = starting.then(
      (app) => app.close(),
      () => undefined,
    );
    void stopped.then(() => process.exit(exitCode), crash);
  };
  listenForStop({ onStop: () => stop(EXIT.ok), onInsist: () => process.exit(EXIT.crash) });
  const onFatal = (sentence: string) => {
    process.stderr.write(`${sentence}\n`);
    stop(EXIT.settings);
  };
  const starting = startApp({ config, secrets, log, onFatal });

  try {
    const app = await starting;
    isUp = true;
    const looks = await looksAtStart({ config, secrets: app.secrets });
    const say = (text: string) => void process.stdout.write(text);
    const watch = watchTroubles(looks, { onEnded: (sentence) => say(`${sentence}\n`) });
    endWatch = () => watch.end();
    const troubles = await watch.first;
    if (!wasStopped()) greet({ app, config, moved, troubles, say });
  } catch (error) {
    crash(error);
  }
}
