import { startApp, type App } from '../../bot/app/app.ts';
import { SECOND_MS } from '../../shared/clock.ts';
import { asError } from '../../shared/coded-error.ts';
import { createLog } from '../../shared/log.ts';
import { listenForStop } from '../../shared/process/stop-signals.ts';
import { EXIT } from '../../shared/process/exit-codes.ts';
import { greet } from './startup-banner.ts';
import { openBrowser } from './open-browser.ts';
import { inBackground } from '../../shared/in-background.ts';
import type { Config } from '../../bot/config/config.ts';
import type { LoadedSettings } from '../../bot/config/load-settings.ts';
import { turnsGraceSec } from '../../bot/app/shutdown-timeout.ts';
import { rereadAtHangUp } from './reread-files.ts';
import { failureOfStart } from './start-failure.ts';
import { probesAtStart, watchTroubles } from './startup-warnings.ts';
import type { MovedPort } from '../../bot/app/take-free-ports.ts';

interface StartChoices {
  moved: readonly MovedPort[];
  /** False where the person asked for none. */
  opensBrowser: boolean;
}

/**
 * Runs until a signal comes. SIGTERM and SIGINT stop in order, also while it starts; whoever sends another one later ends
 * it at once (SECURITY.md orderly-stop).
 */
export async function runStartCommand(
  { config, secrets }: Extract<LoadedSettings, { ok: true }>,
  { moved, opensBrowser }: StartChoices,
): Promise<void> {
  const log = createLog({ ...config.log, role: config.roles.join('+') });
  const say = (text: string) => void process.stdout.write(text);
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
  // Nothing is known about the state after an error that nobody caught: log it, end, start afresh (SECURITY.md crash-on-the-unexpected).
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
      (app) => {
        inBackground(() => sayWhatEnds(app, config, say));
        return app.close();
      },
      () => undefined,
    );
    void stopped.then(() => process.exit(exitCode), crash);
  };
  listenForStop({ onStop: () => stop(EXIT.ok), onInsist: () => process.exit(EXIT.crash) });
  const onFatal = (sentence: string) => {
    process.stderr.write(`${sentence}\n`);
    stop(EXIT.settings);
  };
  // A worker that the page can end by force, to show that nothing is lost, is no part of this process.
  const workerProgram =
    config.mode === 'local' ? new URL('../../bot/app/local-worker-process.js', import.meta.url) : undefined;
  const starting = startApp({ config, secrets, log, onFatal, workerProgram });
  rereadAtHangUp({ config, log, app: starting });

  try {
    const app = await starting;
    isUp = true;
    const probes = await probesAtStart({ config, secrets: app.secrets });
    const watch = watchTroubles(probes, { onEnded: (sentence) => say(`${sentence}\n`) });
    endWatch = () => watch.end();
    const troubles = await watch.first;
    if (wasStopped()) return;
    const isTerminal = process.stdout.isTTY;
    const desk = { platform: process.platform, env: process.env, isTerminal };
    const open = (url: string) => opensBrowser && openBrowser(url, desk);
    greet({ app, config, moved, troubles, isTerminal, open, say });
  } catch (error) {
    crash(error);
  }
}

/** A stop may take as long as an answer does: whoever pressed Ctrl+C is told what it waits for, and how not to. */
async function sayWhatEnds(app: App, config: Config, say: (text: string) => void): Promise<void> {
  if (config.mode !== 'local' && !process.stdout.isTTY) return;
  const count = await app.runningAnswers();
  const mostSec = turnsGraceSec(config.http.shutdownGraceSec);
  const insist = `for at most ${mostSec} seconds. Press Ctrl+C again to end at once.\n`;
  if (count === 0) {
    setTimeout(() => say(`\nThe last calls to the chat app are being looked after, ${insist}`), SECOND_MS * 2).unref();
    return;
  }
  const answers = count === 1 ? 'The answer under way is' : `${count} answers under way are`;
  say(`\n${answers} being finished, ${insist}`);
}
