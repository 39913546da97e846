import { startApp, type App } from './app.ts';
import { asError } from './base/coded-error.ts';
import { createLog, type Log } from './base/log.ts';
import { listenForStop } from './base/stop-signals.ts';
import { CHECK_USAGE, readCheckArguments, type CheckArguments } from './check-arguments.ts';
import { faultsOfNamedFiles } from './named-files.ts';
import { hashPassword } from './service/sign-in/passwords.ts';
import type { Config, Secrets } from './settings/config.ts';
import { loadSettings, type LoadedSettings } from './settings/load-settings.ts';

/** Exit codes of contract section 1. */
const EXIT = { ok: 0, crash: 1, settings: 2, usage: 2 } as const;

const asked = process.argv[2] === 'check' ? readCheckArguments(process.argv.slice(3)) : undefined;

/** `hash-password` and a command's usage need no settings: they are used while these are written. */
if (process.argv[2] === 'hash-password') await printPasswordHash();
else if (asked?.kind === 'help' || asked?.kind === 'wrong') tellCheckUsage(asked);
else await runWithSettings(asked);

async function runWithSettings(check: CheckRun | undefined): Promise<void> {
  const settings = loadSettings({ env: process.env, cwd: process.cwd(), isTerminal: process.stdout.isTTY });
  for (const warning of settings.warnings) process.stderr.write(`warning: ${warning}\n`);
  if (!settings.ok) {
    refuse(settings.faults);
  } else if (check) {
    process.exitCode = await runCheck(check, settings.config, settings.secrets);
  } else {
    const faults = await faultsOfNamedFiles(settings.config);
    if (faults.length > 0) refuse(faults.map((message) => ({ message })));
    else await run(settings);
  }
}

type CheckRun = Extract<CheckArguments, { kind: 'settings' | 'sign-in' }>;

async function runCheck(check: CheckRun, config: Config, secrets: Secrets): Promise<number> {
  if (check.kind === 'sign-in')
    return (await import('./check-sign-in-command.ts')).runSignInCommand(config, secrets, check);
  return (await import('./check-command.ts')).runCheckCommand(config, secrets);
}

function tellCheckUsage(check: Extract<CheckArguments, { kind: 'help' | 'wrong' }>): void {
  if (check.kind === 'help') {
    process.stdout.write(CHECK_USAGE);
    return;
  }
  process.stderr.write(`${check.complaint}\n\n${CHECK_USAGE}`);
  process.exitCode = EXIT.usage;
}

/** Reads a password from standard input and prints what stands for it in `SERVICE_DIRECTORY_FILE`. */
async function printPasswordHash(): Promise<void> {
  process.stdin.setEncoding('utf8');
  let typed = '';
  for await (const chunk of process.stdin as AsyncIterable<string>) typed += chunk;
  process.stdout.write(`${await hashPassword(typed.replace(/\r?\n$/, ''))}\n`);
}

function refuse(faults: readonly { message: string }[]): void {
  process.stderr.write(`Parley cannot start: ${faults.length} setting${faults.length === 1 ? '' : 's'} to mend\n`);
  for (const { message } of faults) process.stderr.write(`  ${message}\n`);
  process.exitCode = EXIT.settings;
}

/**
 * Runs until a signal comes. SIGTERM and SIGINT stop in order, also while it starts; whoever sends another one later ends
 * it at once (security.md 4.9).
 */
async function run({ config, secrets }: Extract<LoadedSettings, { ok: true }>): Promise<void> {
  const log = createLog(config.log);
  // Nothing is known about the state after an error that nobody caught: log it, end, start afresh (security.md 4.13).
  process.on('uncaughtException', (error) => crash(log, error));
  process.on('unhandledRejection', (reason) => crash(log, asError(reason)));

  let isStopping = false;
  const wasStopped = () => isStopping;
  const stop = (exitCode: number) => {
    if (isStopping) return;
    isStopping = true;
    log.info('stopping in order');
    // What cannot start has stopped all by itself.
    const stopped = starting.then(
      (app) => app.close(),
      () => undefined,
    );
    void stopped.then(
      () => process.exit(exitCode),
      (error: unknown) => crash(log, asError(error)),
    );
  };
  listenForStop({ onStop: () => stop(EXIT.ok), onInsist: () => process.exit(EXIT.crash) });
  const onFatal = (sentence: string) => {
    process.stderr.write(`${sentence}\n`);
    stop(EXIT.settings);
  };
  const starting = startApp({ config, secrets, log, onFatal });

  try {
    const app = await starting;
    if (!wasStopped()) greet(app, config.http.publicUrl, config.mode === 'local');
  } catch (error) {
    crash(log, asError(error));
  }
}

/** Says where each part listens and which page to open; for people, so it goes to standard output as it is. */
function greet({ addresses, madeApiKey }: App, publicUrl: string, isLocal: boolean): void {
  const lines = addresses.map(({ name, url }) => `  ${name.padEnd(10)} ${url}`);
  const messenger = addresses.find(({ name }) => name === 'messenger');
  process.stdout.write(['', `Parley is running${isLocal ? ' in local mode' : ''}.`, '', ...lines, ''].join('\n'));
  if (madeApiKey !== undefined) process.stdout.write(`\n  chat key   ${madeApiKey}  (for the service's /v1)\n`);
  if (messenger)
    process.stdout.write(`\nOpen ${messenger.url} in a browser, pick who you are, and write to the bot.\n\n`);
  else process.stdout.write(`\nReached at ${publicUrl}\n\n`);
}

function crash(log: Log, error: Error): void {
  log.fatal({ error }, 'Parley cannot go on');
  process.exit(EXIT.crash);
}
