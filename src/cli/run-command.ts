import { configureProxy } from '../shared/http/proxy-config.ts';
import { ignoreDebuggerSignal } from '../shared/process/stop-signals.ts';
import { keepTrustedPath } from '../shared/process/trusted-path.mjs';
import { EXIT } from '../shared/process/exit-codes.ts';
import type { CheckArguments } from './check/check-arguments.ts';
import { asJson } from './check/run-checks.ts';
import { faultsOfNamedFiles } from './check/config-files.ts';
import { callOf, readCommandLine, type CommandLine } from './command-line.ts';
import { refusalOf } from './start/config-errors.ts';
import { terminalLanguage } from './terminal/terminal-language.ts';
import { translatorTo } from './terminal/translate.ts';
import { loadSettings, readNamedSettings, type LoadedSettings } from '../bot/config/load-settings.ts';
import { takeFreePorts } from '../bot/app/take-free-ports.ts';

const translate = translatorTo(terminalLanguage(process.env));

ignoreDebuggerSignal();
keepTrustedPath();
process.exitCode = await run(readCommandLine(process.argv.slice(2), { translate }));

/**
 * Commands that help to write the settings do not require valid ones. Each command's code is loaded only when it runs.
 * @returns the exit code, unless the command ends the process itself
 */
async function run(asked: CommandLine): Promise<number | undefined> {
  const { stdin: input, stdout: output, stderr, env } = process;
  const asides = { write: (text: string) => stderr.write(translate(text)), isTTY: stderr.isTTY };
  const cwd = process.cwd();
  switch (asked.command) {
    case 'print':
      output.write(asked.text);
      return EXIT.ok;
    case 'wrong':
      asides.write(asked.complaint);
      return EXIT.usage;
    case 'setup': {
      const { runSetupCommand } = await import('./setup/setup-command.ts');
      const { takesEnvironment } = asked;
      // Standard input may stay open.
      return process.exit(await runSetupCommand({ takesEnvironment, callOf, env, cwd, input, output, asides }));
    }
    case 'hash-password':
      return (await import('./hash-password-command.ts')).runHashPassword({ input, output, asides });
    case 'slack-manifest': {
      const { MANIFEST_SETTINGS, runSlackManifest } = await import('./slack-manifest-command.ts');
      const { values: settings, faults } = readNamedSettings({ env, cwd }, MANIFEST_SETTINGS);
      const messages = faults.map(({ message }) => message);
      return runSlackManifest({
        asked: asked.asked,
        settings,
        faults: messages,
        cwd,
        output,
        asides: stderr,
        translate,
      });
    }
    case 'eval': {
      const { runEvalCommand } = await import('./eval/eval-command.ts');
      const exitCode = await runEvalCommand({ asked: asked.asked, env, cwd, output, asides: stderr, translate });
      // An interrupted question still waits for its answer, which would keep the process alive.
      return process.exit(exitCode);
    }
    case 'feedback': {
      const settings = readSettings();
      if (!settings.ok) return refuse(settings.faults.map(({ message }) => message));
      const { config, secrets } = settings;
      const { days, isJson } = asked;
      const { runFeedbackCommand } = await import('./feedback-command.ts');
      return runFeedbackCommand({ config, secrets, days, isJson, output, asides });
    }
    case 'admin': {
      const settings = readSettings();
      if (!settings.ok) return refuse(settings.faults.map(({ message }) => message));
      const { config, secrets } = settings;
      const { runAdminCommand } = await import('./admin/admin-command.ts');
      return runAdminCommand({ asked: asked.asked, config, secrets, output, asides: stderr, translate });
    }
    case 'check':
      return check(asked.asked);
    case 'start':
      return start(asked.opensBrowser);
  }
}

/** @param first values that take precedence over all others */
function readSettings(first: Readonly<Record<string, string>> = {}): LoadedSettings {
  return loadSettings({ env: { ...process.env, ...first }, cwd: process.cwd(), isTerminal: process.stdout.isTTY });
}

/** Reads the settings, prints their warnings and uses their proxy. */
function prepareSettings(): LoadedSettings {
  const settings = readSettings();
  for (const warning of settings.warnings) process.stderr.write(translate(`warning: ${warning}\n`));
  if (settings.ok) configureProxy({ ...settings.secrets, noProxy: settings.config.noProxy });
  return settings;
}

async function start(opensBrowser: boolean): Promise<number | undefined> {
  const settings = prepareSettings();
  if (!settings.ok) return refuse(settings.faults.map(({ message }) => message));
  const faults = await faultsOfNamedFiles(settings.config);
  if (faults.length > 0) return refuse(faults);
  const { settings: started, moved } = await takeFreePorts(settings, readSettings);
  await (await import('./start/start-command.ts')).runStartCommand(started, { moved, opensBrowser, translate });
  return undefined;
}

async function check(asked: CheckArguments): Promise<number> {
  const settings = prepareSettings();
  if (!settings.ok) {
    if ('isJson' in asked && asked.isJson)
      process.stdout.write(
        asJson(settings.faults.map(({ setting, message }) => ({ name: setting, verdict: 'fault', detail: message }))),
      );
    return refuse(
      settings.faults.map(({ message }) => message),
      true,
    );
  }
  const { config, secrets } = settings;
  switch (asked.kind) {
    case 'sign-in':
      return (await import('./check/check-sign-in-command.ts')).runSignInCommand(
        settings,
        readSettings,
        asked,
        translate,
      );
    case 'as':
      return (await import('./check/check-as-command.ts')).runAsCommand(config, secrets, asked.asked, {
        ...{ write: (text: string) => process.stdout.write(text), isJson: asked.isJson, translate },
      });
    case 'settings': {
      const { runCheckCommand } = await import('./check/check-command.ts');
      const { isTTY } = process.stdout;
      const write = (text: string) => process.stdout.write(text);
      return runCheckCommand(config, secrets, { write, isTTY, isJson: asked.isJson, translate });
    }
  }
}

function refuse(faults: readonly string[], isCheck = false): number {
  process.stderr.write(translate(refusalOf(faults, { isCheck })));
  return EXIT.settings;
}
