import { EVAL_USAGE, readEvalArguments, type EvalArguments } from './cli/eval/eval-arguments.ts';
import { CHECK_USAGE, readCheckArguments, type CheckArguments } from './cli/check/check-arguments.ts';
import { configureProxy } from './shared/http/proxy-config.ts';
import { ignoreDebuggerSignal } from './shared/process/stop-signals.ts';
import { keepTrustedPath } from './shared/process/trusted-path.mjs';
import { EXIT } from './shared/process/exit-codes.ts';
import { VERSION } from './shared/version.ts';
import {
  FEEDBACK_USAGE,
  readFeedbackArguments,
  runFeedbackCommand,
  type FeedbackArguments,
} from './cli/feedback-command.ts';
import { runHashPassword } from './cli/hash-password-command.ts';
import { faultsOfNamedFiles } from './cli/check/config-files.ts';
import { loadSettings, readNamedSettings, type LoadedSettings } from './bot/config/load-settings.ts';
import { refusalOf } from './cli/start/config-errors.ts';
import { readStartArguments, START_USAGE } from './cli/start/start-arguments.ts';
import { MANIFEST_SETTINGS, runSlackManifest } from './cli/slack-manifest-command.ts';
import { runStartCommand } from './cli/start/start-command.ts';
import { takeFreePorts, type SoundSettings } from './bot/app/take-free-ports.ts';

ignoreDebuggerSignal();
keepTrustedPath();
const asked = process.argv[2] === 'check' ? readCheckArguments(process.argv.slice(3)) : undefined;
const feedback = process.argv[2] === 'feedback' ? readFeedbackArguments(process.argv.slice(3)) : undefined;
const evaluation = process.argv[2] === 'eval' ? readEvalArguments(process.argv.slice(3)) : undefined;
const start = readStartArguments(process.argv.slice(2));

/**
 * `hash-password`, `slack-manifest` and a command's usage do not require valid settings, because they help to write these.
 */
if (process.argv[2] === 'hash-password')
  process.exitCode = await runHashPassword({ input: process.stdin, output: process.stdout, asides: process.stderr });
else if (process.argv[2] === 'slack-manifest') process.exitCode = makeManifest(process.argv.slice(3));
else if (asked?.kind === 'help' || asked?.kind === 'wrong') tellUsage(asked, CHECK_USAGE);
else if (feedback) await tellFeedback(feedback);
else if (evaluation) await evaluate(evaluation);
else if (!asked && start.kind === 'version') process.stdout.write(`${VERSION}\n`);
else if (!asked && start.kind !== 'start') tellUsage(start, START_USAGE);
else await runWithSettings(asked);

function makeManifest(args: readonly string[]): number {
  const cwd = process.cwd();
  const { values, faults } = readNamedSettings({ env: process.env, cwd }, MANIFEST_SETTINGS);
  const { stdout: output, stderr: asides } = process;
  return runSlackManifest({
    args,
    settings: values,
    faults: faults.map(({ message }) => message),
    cwd,
    output,
    asides,
  });
}

async function tellFeedback(wanted: FeedbackArguments): Promise<void> {
  if (wanted.kind !== 'feedback') return tellUsage(wanted, FEEDBACK_USAGE);
  const settings = readSettings();
  if (!settings.ok)
    return refuse(
      settings.faults.map(({ message }) => message),
      false,
    );
  const { config, secrets } = settings;
  const { stdout: output, stderr: asides } = process;
  process.exitCode = await runFeedbackCommand({ config, secrets, days: wanted.days, output, asides });
}

async function evaluate(asked: EvalArguments): Promise<void> {
  if (asked.kind !== 'eval') return tellUsage(asked, EVAL_USAGE);
  const { runEvalCommand } = await import('./cli/eval/eval-command.ts');
  const { stdout: output, stderr: asides, env } = process;
  process.exitCode = await runEvalCommand({ asked, env, cwd: process.cwd(), output, asides });
}

/** @param first values that take precedence over all others */
function readSettings(first: Readonly<Record<string, string>> = {}): LoadedSettings {
  return loadSettings({ env: { ...process.env, ...first }, cwd: process.cwd(), isTerminal: process.stdout.isTTY });
}

async function runWithSettings(check: CheckRun | undefined): Promise<void> {
  const settings = readSettings();
  for (const warning of settings.warnings) process.stderr.write(`warning: ${warning}\n`);
  if (!settings.ok) {
    const faults = settings.faults.map(({ message }) => message);
    if (check?.kind === 'settings' && check.format === 'json') {
      const { asJson } = await import('./cli/check/run-checks.ts');
      process.stdout.write(asJson(faults.map((detail) => ({ name: 'Settings', verdict: 'fault', detail }))));
      process.exitCode = EXIT.settings;
    } else refuse(faults, check !== undefined);
    return;
  }
  configureProxy({ ...settings.secrets, noProxy: settings.config.noProxy });
  if (check) {
    process.exitCode = await runCheck(check, settings);
  } else {
    const faults = await faultsOfNamedFiles(settings.config);
    if (faults.length > 0) return refuse(faults, false);
    const { settings: started, moved } = await takeFreePorts(settings, readSettings);
    await runStartCommand(started, { moved, opensBrowser: start.kind === 'start' && start.opensBrowser });
  }
}

type CheckRun = Extract<CheckArguments, { kind: 'settings' | 'sign-in' | 'as' }>;

async function runCheck(check: CheckRun, settings: SoundSettings): Promise<number> {
  if (check.kind === 'sign-in')
    return (await import('./cli/check/check-sign-in-command.ts')).runSignInCommand(settings, readSettings, check);
  if (check.kind === 'as')
    return (await import('./cli/check/check-as-command.ts')).runAsCommand(
      settings.config,
      settings.secrets,
      check.asked,
    );
  const { runCheckCommand } = await import('./cli/check/check-command.ts');
  return runCheckCommand(settings.config, settings.secrets, process.stdout, check.format);
}

function tellUsage(asked: { kind: 'help' | 'version' } | { kind: 'wrong'; complaint: string }, usage: string): void {
  if (asked.kind !== 'wrong') {
    process.stdout.write(usage);
    return;
  }
  process.stderr.write(`${asked.complaint}\n\n${usage}`);
  process.exitCode = EXIT.usage;
}

function refuse(faults: readonly string[], isCheck: boolean): void {
  process.stderr.write(refusalOf(faults, { isCheck }));
  process.exitCode = EXIT.settings;
}
