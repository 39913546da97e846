import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { EXIT } from '../shared/process/exit-codes.ts';
import { VERSION } from '../shared/version.ts';
import {
  AS_FORM,
  CODE_AGES_FORM,
  readCheckOptions,
  readCodeAges,
  type CheckArguments,
} from './check/check-arguments.ts';
import { readImpersonationArgs } from './check/impersonation-args.ts';
import { columnsOf, translatorTo, type Translate } from './terminal/translate.ts';
import { completionOf, SHELLS, type Shell } from './completion.ts';
import type { AdminCall } from './admin/admin-command.ts';
import type { AdminArgument, AdminSubcommand } from './admin/admin-context.ts';
import { ADMIN_SUBCOMMANDS } from './admin/admin-subcommands.ts';
import type { ManifestArguments } from './slack-manifest-command.ts';

/** The arguments of `eval`. */
export interface EvalArguments {
  file: string | undefined;
  against: string | undefined;
  judgesAll: boolean;
  perMinute: number;
  isJson: boolean;
}

/** The command that the arguments ask for. */
export type CommandLine =
  | { command: 'start'; opensBrowser: boolean }
  | { command: 'setup'; takesEnvironment: boolean }
  | { command: 'check'; asked: CheckArguments }
  | { command: 'eval'; asked: EvalArguments }
  | { command: 'feedback'; days: number | undefined; isJson: boolean }
  | { command: 'admin'; asked: AdminCall }
  | { command: 'hash-password' }
  | { command: 'slack-manifest'; asked: ManifestArguments }
  /** Help, the version or a completion script. */
  | { command: 'print'; text: string }
  | { command: 'wrong'; complaint: string };

/** The npm scripts that run a command. */
const NPM_SCRIPTS: Readonly<Record<string, string>> = {
  start: 'npm start',
  setup: 'npm run setup',
  check: 'npm run check',
  eval: 'npm run eval',
  feedback: 'npm run -s feedback',
  admin: 'npm run -s admin',
  'hash-password': 'npm run -s hash-password',
  'slack-manifest': 'npm run slack:manifest',
};
const SCRIPT_NAMES: readonly string[] = Object.values(NPM_SCRIPTS).map((call) => call.split(' ').at(-1) ?? '');

const DEFAULT_PER_MINUTE = 30;
const MAX_PER_MINUTE = 600;
const MAX_DAYS = 9_999;

const ownScript = () => process.env['npm_lifecycle_event'] ?? '';

/**
 * How to call a command here: by its npm script inside a clone, else by the program.
 * @param npmScript name of the npm script that runs this process, if any
 */
export function callOf(name: string, rest = '', npmScript = ownScript()): string {
  const call = SCRIPT_NAMES.includes(npmScript) ? NPM_SCRIPTS[name] : undefined;
  if (call === undefined) return ['parley', name, rest].filter((word) => word !== '').join(' ');
  return rest === '' ? call : `${call} -- ${rest}`;
}

/**
 * Reads the command line. Without a command, Parley starts.
 * @param npmScript name of the npm script that runs the command, whose form help texts then use
 * @param translate for help and complaints; defaults to English
 */
export function readCommandLine(
  args: readonly string[],
  { npmScript = ownScript(), translate = translatorTo('en') }: { npmScript?: string; translate?: Translate } = {},
): CommandLine {
  let printed = '';
  let chosen: CommandLine | undefined;
  const print = (text: string) => void (printed += text);
  const choose = (command: CommandLine) => void (chosen = command);
  try {
    const program = buildProgram({ args, npmScript, translate, print, choose });
    program.parse([...args], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? { command: 'print', text: printed } : { command: 'wrong', complaint: printed };
  }
  return chosen ?? { command: 'wrong', complaint: printed };
}

interface ProgramOptions {
  args: readonly string[];
  npmScript: string;
  translate: Translate;
  print(text: string): void;
  choose(command: CommandLine): void;
}

function buildProgram({ args: [first], npmScript, translate, print, choose }: ProgramOptions): Command {
  const call = (name: string, rest = '') => callOf(name, rest, npmScript);
  const usageOf = (command: Command) => {
    const words = command.registeredArguments.map((each) => (each.required ? `<${each.name()}>` : `[${each.name()}]`));
    const options = command.commands.length > 0 ? ['[command] [options]'] : ['[options]', ...words];
    const { parent } = command;
    if (parent?.parent) return call(parent.name(), [command.name(), ...options].join(' '));
    return call(parent ? command.name() : '', options.join(' '));
  };
  const program = new Command('parley')
    .description('A chatbot for WeCom and Slack. Without a command, Parley starts.')
    .version(VERSION, '-v, --version', 'prints the version')
    .helpOption('-h, --help', 'prints this text')
    .helpCommand('help [command]', 'prints the help of a command')
    .exitOverride()
    .configureOutput({ writeOut: print, writeErr: (text) => print(translate(text)) })
    .configureHelp({
      commandUsage: usageOf,
      displayWidth: columnsOf,
      styleTitle: translate,
      styleCommandDescription: translate,
      styleSubcommandDescription: translate,
      styleOptionDescription: translate,
      styleArgumentDescription: translate,
    });
  const add = (name: string, summary: string, examples: readonly string[], isDefault = false) => {
    const called = examples.map((example) => example.replace(/\{([^{}]*)\}/, (_, rest: string) => call(name, rest)));
    return program
      .command(name, { isDefault })
      .description(summary)
      .helpOption('-h, --help', 'prints this text')
      .showHelpAfterError(`Run ${call(name, '--help')} for all options.`)
      .addHelpText('after', `\n${translate('Examples:')}\n${called.map((line) => `  ${line}\n`).join('')}`);
  };

  // A mistyped command must not start Parley.
  const isStartImplied = first === undefined || first.startsWith('-');
  program.showHelpAfterError('Run parley --help for all commands.');
  add('start', 'runs Parley; in local mode it opens the page in your browser', ['{}', '{--no-open}'], isStartImplied)
    .version(VERSION, '-v, --version', 'prints the version')
    .option('--no-open', 'does not open a browser')
    .action(({ open }: { open: boolean }) => choose({ command: 'start', opensBrowser: open }));

  add('setup', 'asks for the settings, tries each answer and writes config/.env', ['{}', '{--yes}'])
    .option('--yes', 'takes all answers from the environment, by the names of docs/SETTINGS.md')
    .action(({ yes }: { yes?: boolean }) => choose({ command: 'setup', takesEnvironment: yes === true }));

  add('check', 'tests each configured service: one line each with ok, hint, warning or fault, and the next step', [
    '{}',
    '{--sign-in}',
    '{--as "JG 3100 private"}',
    '{--as "XS 2203 group ID"}',
    '{--json}',
  ])
    .option('--sign-in', 'tests real sign-ins in your browser; stop Parley first')
    .addOption(
      new Option(
        '--person <userid>',
        'with --sign-in: compares this chat user id with the profile (same-id)',
      ).argParser(requireText('requires a user id')),
    )
    .addOption(
      new Option(
        '--code-ages <sec,sec,…>',
        'with --sign-in: ages of the codes to test; defaults to 1,5,9,11',
      ).argParser(parsed(readCodeAges, CODE_AGES_FORM)),
    )
    .addOption(
      new Option(
        '--as <person and place>',
        'shows the rule, scene, models, tools and documents of a person in a place; append wecom or slack for one platform',
      ).argParser(parsed(readImpersonationArgs, AS_FORM)),
    )
    .option('--json', 'prints the results as JSON')
    .action((options: Parameters<typeof readCheckOptions>[0], command: Command) => {
      const asked = readCheckOptions(options);
      if (typeof asked === 'string') command.error(`error: ${asked}`, { exitCode: EXIT.usage });
      choose({ command: 'check', asked });
    });

  add('eval', 'asks test questions and reports answers that fail their checks', [
    '{}',
    '{my-questions.yaml}',
    '{my-questions.yaml --against data/eval/RUN.json}',
  ])
    .argument('[file]', 'YAML file of questions; defaults to the included questions about the example documents')
    .option('--against <run.json>', 'compares with an earlier run')
    .option('--judge', 'also has the model judge each answer')
    .addOption(
      new Option('--per-minute <n>', 'maximum questions per minute')
        .default(DEFAULT_PER_MINUTE)
        .argParser(parsed((text) => numberIn(text, MAX_PER_MINUTE), `takes a number from 1 to ${MAX_PER_MINUTE}`)),
    )
    .option('--json', 'prints the run as JSON')
    .action((file: string | undefined, { against, judge, perMinute, json }: EvalOptions) => {
      const asked = { file, against, judgesAll: judge === true, perMinute, isJson: json === true };
      choose({ command: 'eval', asked });
    });

  add('feedback', 'prints the stored ratings of answers as CSV', ['{}', '{--days 30} > feedback.csv'])
    .addOption(
      new Option('--days <n>', 'ratings of the last days only').argParser(
        parsed((text) => numberIn(text, MAX_DAYS), `takes a number from 1 to ${MAX_DAYS}`),
      ),
    )
    .option('--json', 'prints one JSON object per line instead')
    .action(({ days, json }: { days?: number; json?: boolean }) =>
      choose({ command: 'feedback', days, isJson: json === true }),
    );

  const admin = add('admin', 'answers the questions of an administrator about the stored data', [
    '{dead-letters}',
    '{--help}',
  ]).helpCommand('help [command]', 'prints the help of a command');
  for (const subcommand of ADMIN_SUBCOMMANDS)
    addSubcommand(admin, subcommand, { call: (rest) => call('admin', rest), translate, choose });

  add('hash-password', "creates a password entry for the service's user list, from a password on standard input", [
    "printf '%s' 'the password' | {}",
  ]).action(() => choose({ command: 'hash-password' }));

  add('slack-manifest', 'writes config/slack-manifest.yaml, the manifest of the Slack app, from the settings', [
    '{}',
    '{--agent --lang zh}',
    '{--print} > manifest.yaml',
  ])
    .option('--agent', "declares the app as an agent, for Slack's own stop button")
    .addOption(new Option('--lang <language>', 'language of the descriptions').choices(['en', 'zh']).default('en'))
    .option('--print', 'prints the manifest instead')
    .action(({ agent, lang, print: isPrinted }: { agent?: true; lang: 'en' | 'zh'; print?: true }) =>
      choose({
        command: 'slack-manifest',
        asked: { isAgent: agent === true, isPrinted: isPrinted === true, language: lang },
      }),
    );

  add('completion', 'prints a completion script for your shell', [
    '{bash} >> ~/.bashrc',
    '{zsh} > "${fpath[1]}/_parley"',
  ])
    .argument(
      '<shell>',
      SHELLS.join(' or '),
      parsed<Shell>((text) => SHELLS.find((shell) => shell === text), 'takes bash or zsh'),
    )
    .action((shell: Shell) => choose({ command: 'print', text: completionOf(program, shell, translate) }));
  return program;
}

interface SubcommandOptions extends Pick<ProgramOptions, 'translate' | 'choose'> {
  call(rest: string): string;
}

function addSubcommand(
  admin: Command,
  { name, summary, examples, subject, options = [] }: AdminSubcommand,
  { call, translate, choose }: SubcommandOptions,
): void {
  const called = examples.map((rest) => `  ${call(`${name} ${rest}`.trim())}\n`).join('');
  const command = admin
    .command(name)
    .description(summary)
    .helpOption('-h, --help', 'prints this text')
    .showHelpAfterError(`Run ${call(`${name} --help`)} for all options.`)
    .addHelpText('after', `\n${translate('Examples:')}\n${called}`)
    .option('--json', 'prints the results as JSON')
    .action((...given: unknown[]) => {
      const typed = given.at(-2) as Record<string, string | boolean | undefined>;
      const { json, ...rest } = typed;
      const asked = {
        subcommand: name,
        subject: subject ? String(given[0]) : '',
        options: rest,
        isJson: json === true,
      };
      choose({ command: 'admin', asked });
    });
  if (subject) {
    const argument = new Argument(`<${subject.name}>`, subject.summary);
    restrict(argument, subject);
    command.addArgument(argument);
  }
  for (const one of options) {
    const option = new Option(one.flags, one.summary);
    restrict(option, one);
    command.addOption(option);
  }
}

function restrict(taken: Argument | Option, { choices, accepts, form = '' }: AdminArgument): void {
  if (choices) taken.choices([...choices]);
  if (accepts) taken.argParser(parsed((text) => (accepts(text) ? text : undefined), form));
}

interface EvalOptions {
  against?: string;
  judge?: boolean;
  perMinute: number;
  json?: boolean;
}

/** An option parser that reports the expected form. */
function parsed<Value>(read: (text: string) => Value | undefined, form: string): (text: string) => Value {
  return (text) => {
    const value = read(text);
    if (value === undefined) throw new InvalidArgumentError(`It ${form}.`);
    return value;
  };
}

function requireText(form: string): (text: string) => string {
  return parsed((text) => (text === '' ? undefined : text), form);
}

function numberIn(text: string, max: number): number | undefined {
  return /^[1-9]\d{0,3}$/.test(text) && Number(text) <= max ? Number(text) : undefined;
}
