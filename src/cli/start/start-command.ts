import { setFlagsFromString } from 'node:v8';
import { startApp, type App } from '../../bot/app/app.ts';
import { SECOND_MS } from '../../shared/clock.ts';
import { asError } from '../../shared/coded-error.ts';
import { createLog } from '../../shared/log.ts';
import { switchVerbosityOnSignal } from '../../shared/process/verbose-signal.ts';
import { listenForStop } from '../../shared/process/stop-signals.ts';
import { EXIT } from '../../shared/process/exit-codes.ts';
import { printBanner } from './startup-banner.ts';
import { openBrowser } from './open-browser.ts';
import { inBackground } from '../../shared/in-background.ts';
import type { Config } from '../../bot/config/config.ts';
import type { LoadedSettings } from '../../bot/config/load-settings.ts';
import { turnsGraceSec } from '../../bot/app/shutdown-timeout.ts';
import { reloadOnHangup } from './reread-files.ts';
import { failureOfStart } from './start-failure.ts';
import type { Translate } from '../terminal/translate.ts';
import { probesAtStart, watchProbes } from './startup-warnings.ts';
import type { MovedPort } from '../../bot/app/take-free-ports.ts';

interface StartChoices {
  moved: readonly MovedPort[];
  /** False if the user disabled it. */
  opensBrowser: boolean;
  translate: Translate;
}

/**
 * Runs until a signal arrives. SIGTERM and SIGINT stop gracefully, even during startup; a second signal ends the process
 * immediately (SECURITY.md orderly-stop).
 */
export async function runStartCommand(
  { config, secrets }: Extract<LoadedSettings, { ok: true }>,
  { moved, opensBrowser, translate }: StartChoices,
): Promise<void> {
  const log = createLog({ ...config.log, role: config.roles.join('+') });
  switchVerbosityOnSignal(log);
  const say = (text: string) => void process.stdout.write(translate(text));
  let isUp = false;
  const crash = (thrown: unknown) => {
    const error = asError(thrown);
    if (isUp) {
      log.fatal({ error }, 'Parley stops because of an unexpected error');
      process.exit(EXIT.crash);
    }
    const { sentence, isOfSettings } = failureOfStart(error, config);
    log.debug({ error }, 'Parley could not start');
    process.stderr.write(`${translate(sentence)}\n`);
    process.exit(isOfSettings ? EXIT.settings : EXIT.crash);
  };
  // After an uncaught error the state is unknown: log it and exit (SECURITY.md crash-on-the-unexpected).
  process.on('uncaughtException', crash);
  process.on('unhandledRejection', crash);

  let isStopping = false;
  let endWatch: (() => void) | undefined;
  const wasStopped = () => isStopping;
  const stop = (exitCode: number) => {
    if (isStopping) return;
    isStopping = true;
    endWatch?.();
    log.info('shutting down');
    // An app that failed to start has already stopped.
    const stopped = starting.then(
      (app) => {
        inBackground(() => reportShutdown(app, config, say));
        return app.close();
      },
      () => undefined,
    );
    void stopped.then(() => process.exit(exitCode), crash);
  };
  listenForStop({ onStop: () => stop(EXIT.ok), onInsist: () => process.exit(EXIT.crash) });
  const onFatal = (sentence: string) => {
    process.stderr.write(`${translate(sentence)}\n`);
    stop(EXIT.settings);
  };
  // The worker runs in its own process, so that the page can kill it to demonstrate that no message is lost.
  const workerProgram =
    config.mode === 'local' ? new URL('../../bot/app/local-worker-process.js', import.meta.url) : undefined;
  const starting = startApp({ config, secrets, log, onFatal, workerProgram });
  reloadOnHangup({ config, log, app: starting });

  try {
    const app = await starting;
    isUp = true;
    // Functions of an answer get machine code at their first call, which saves a fifth of the first 1,600 answers. Not earlier:
    // code that only the start needs would take memory for good.
    if (config.roles.includes('worker')) setFlagsFromString('--always-sparkplug');
    const { probes, hints } = await probesAtStart({ config, secrets: app.secrets });
    const watch = watchProbes(probes, { onEnded: (sentence) => say(`${sentence}\n`) });
    endWatch = () => watch.end();
    const troubles = await watch.first;
    if (wasStopped()) return;
    const isTerminal = process.stdout.isTTY;
    const desk = { platform: process.platform, env: process.env, isTerminal };
    const open = (url: string) => opensBrowser && openBrowser(url, desk);
    printBanner({ app, config, moved, troubles, hints, isTerminal, open, say });
  } catch (error) {
    crash(error);
  }
}

/**
 * A stop may take as long as an answer, so the user who pressed Ctrl+C is told what it waits for and how to end immediately.
 */
async function reportShutdown(app: App, config: Config, say: (text: string) => void): Promise<void> {
  if (config.mode !== 'local' && !process.stdout.isTTY) return;
  const count = await app.runningAnswers();
  const maxSec = turnsGraceSec(config.http.shutdownGraceSec);
  const insist = `for at most ${maxSec} seconds. Press Ctrl+C again to stop immediately.\n`;
  if (count === 0) {
    setTimeout(() => say(`\nWaiting for the last calls to the chat app, ${insist}`), SECOND_MS * 2).unref();
    return;
  }
  const answers = count === 1 ? 'The running answer is' : `${count} running answers are`;
  say(`\n${answers} being finished, ${insist}`);
}
