import type { Readable, Writable } from 'node:stream';
import { asError } from '../../shared/coded-error.ts';
import { definedOnly } from '../../shared/defined-only.ts';
import { EXIT } from '../../shared/process/exit-codes.ts';
import { localize } from '../../shared/text/texts.ts';
import { SETTING_NAMES } from '../../bot/config/schema.ts';
import type { Environment } from '../../bot/config/read-values.ts';
import { checkLine } from '../check/run-checks.ts';
import { terminalLanguage } from '../terminal/terminal-language.ts';
import { translatorTo, type Translate } from '../terminal/translate.ts';
import { AnswerSheet, complaintOf } from './answer-sheet.ts';
import { Interview, type Say } from './interview.ts';
import { createPrompter, SetupCancelled } from './prompter.ts';
import { SettingsFile, type Changes } from './settings-file.ts';
import { TEXTS, type TextName } from './setup-texts.ts';
import { STEPS } from './steps.ts';
import type { Answers } from './trials.ts';

interface SetupCommand {
  /** Whether all answers come from the environment. */
  takesEnvironment: boolean;
  /** How to call Parley's other commands here. */
  callOf(command: string): string;
  env: Environment;
  cwd: string;
  input: Readable;
  output: Writable & { isTTY?: boolean };
  asides: { write(text: string): unknown };
}

/** What `--yes` takes from the environment; not, for example, the proxy of this shell. */
const TAKEN =
  /^(?:WECOM|SLACK|CHAT|SIGN_IN)_|^(?:SIGN_IN|MESSENGER_PROTOCOL|REDIS_URL|PUBLIC_URL|SECRET_KEY|TRUSTED_PROXY_HOPS)$/;

/**
 * `npm run setup`: asks for the settings, tries each answer, and stores it at once, so that an interrupted setup can be
 * continued. Values are never printed if they are secret.
 * @returns the exit code: 0 only if all answers are stored and none is at fault
 */
export async function runSetupCommand(command: SetupCommand): Promise<number> {
  const { env, cwd, asides } = command;
  const language = terminalLanguage(env);
  const say = (name: TextName, values: Record<string, string> = {}) => localize(TEXTS[name], language, values);
  const file = new SettingsFile(env, cwd);
  const translate = translatorTo(language);
  const setup = { ...command, say, file, translate };
  try {
    return command.takesEnvironment ? await takeEnvironment(setup) : await ask(setup);
  } catch (thrown) {
    if (thrown instanceof SetupCancelled) asides.write(`${say('cancelled', { path: file.path })}\n`);
    else asides.write(`${translate(asError(thrown).message)}\n`);
    return EXIT.failed;
  }
}

interface Setup extends SetupCommand {
  say: Say;
  file: SettingsFile;
  translate: Translate;
}

/**
 * `--yes`: takes the answers from the environment, and changes no value that the file already has. Stores nothing if a trial
 * fails, so that the command can be repeated with corrected values.
 */
async function takeEnvironment(setup: Setup): Promise<number> {
  const { env, say, file, output, asides, translate } = setup;
  let changes: Changes = {};
  const sheet = new AnswerSheet({
    read: () => file.read(),
    readSecretFiles: () => file.readSecretFiles(),
    write: (more) => void (changes = { ...changes, ...more }),
  });
  const stored = sheet.values;
  const names = SETTING_NAMES.filter((name) => TAKEN.test(name) && env[name] !== undefined && env[name] !== '');
  const given = Object.fromEntries(names.map((name) => [name, env[name]]));
  const different = names.filter((name) => stored[name] !== undefined && stored[name] !== env[name]);
  if (different.length > 0) {
    asides.write(`${say('differs', { path: file.path, names: different.join(', ') })}\n`);
    return EXIT.failed;
  }
  const wrong = names.flatMap((name) => complaintOf(name, env[name] ?? '') ?? []);
  if (wrong.length > 0) {
    for (const complaint of wrong) asides.write(`${translate(complaint)}\n`);
    return EXIT.usage;
  }
  const answers = await withDerived(withPlatform({ ...stored, ...given }));
  const missing = missingIn(answers);
  if (missing.length > 0) {
    asides.write(`${say('unset', { names: missing.join(', ') })}\n`);
    return EXIT.usage;
  }
  sheet.store(answers);
  let hasFault = false;
  // What continues a step tries both.
  const isColoured = output.isTTY === true;
  // Several steps may try the same.
  const lines = new Set<string>();
  for (const step of STEPS.filter((each) => sheet.isAsked(each) && each.isContinued !== true)) {
    const isOpen = step.isOptional?.(sheet.values) === true && !sheet.isAnswered(step);
    const assumed = isOpen ? await step.assume?.(sheet.values) : undefined;
    sheet.store({ ...assumed, ...(await step.derive?.(sheet.values)), ...definedOnly(answers) });
    const results = (await step.trial?.(sheet.values)) ?? [];
    const fresh = results.map((result) => checkLine(result, { nameColumns: 0, isColoured, translate }));
    for (const line of fresh.filter((each) => !lines.has(each))) output.write(`${line}\n`);
    for (const line of fresh) lines.add(line);
    hasFault ||= results.some(({ verdict }) => verdict === 'fault');
  }
  if (hasFault) {
    output.write(`${say('notStored', { path: file.path })}\n`);
    return EXIT.failed;
  }
  file.write(changes);
  output.write(`${ending(setup, true).join('\n')}\n`);
  return EXIT.ok;
}

/** The lines at the end: where the settings are, and what to do next. */
function ending({ say, file, callOf }: Setup, isInOrder: boolean): [saved: string, next: string] {
  const calls = { start: callOf('start'), check: callOf('check'), path: file.path };
  return [say('saved', { path: file.path }), say(isInOrder ? 'next' : 'nextCorrect', calls)];
}

function missingIn(answers: Answers): string[] {
  const asked = STEPS.filter((step) => step.isAsked?.(answers) ?? true);
  return asked.flatMap(({ settings, isOptional }) =>
    isOptional?.(answers) === true ? [] : settings.filter((name) => answers[name] === undefined),
  );
}

/** The servers may show that nothing is missing: a CAS server needs no client id. */
async function withDerived(answers: Answers): Promise<Answers> {
  const missing = missingIn(answers);
  const deciding = STEPS.filter(({ reopens }) => reopens?.some((name) => missing.includes(name)));
  let known = answers;
  for (const step of deciding) known = { ...(await step.derive?.(known)), ...definedOnly(known) };
  return known;
}

async function ask(setup: Setup): Promise<number> {
  const { say, file, input, output, translate } = setup;
  const sheet = new AnswerSheet(file);
  const prompter = createPrompter(input, output);
  prompter.begin(say('title'));
  const answered = STEPS.filter((step) => sheet.isAnswered(step));
  const isResumed =
    answered.length > 0 &&
    (await prompter.choose(say('resume', { path: file.path }), [
      { value: 'missing', label: say('resumeMissing') },
      { value: 'all', label: say('resumeAll'), hint: say('resumeAllHint') },
    ])) === 'missing';
  const interview = { prompter, sheet, say, translate, isColoured: output.isTTY === true };
  const isInOrder = await new Interview(interview, isResumed ? answered : []).run();
  const [saved, next] = ending(setup, isInOrder);
  prompter.say(saved);
  prompter.end(next);
  return isInOrder ? EXIT.ok : EXIT.failed;
}

/** The platform follows from its credentials, so that scripts need not name it twice. */
function withPlatform(answers: Answers): Answers {
  const has = (name: string) => answers[name] !== undefined;
  const isServing = has('WECOM_BOT_TOKEN') || has('WECOM_BOT_SECRET') || has('SLACK_BOT_TOKEN');
  if (!isServing) return { MESSENGER_PROTOCOL: 'wecom', ...answers };
  const wecom = has('WECOM_BOT_SECRET') ? 'connection' : has('WECOM_BOT_TOKEN') ? 'callback' : undefined;
  const slack = has('SLACK_APP_TOKEN') ? 'socket' : has('SLACK_BOT_TOKEN') ? 'http' : undefined;
  return { WECOM_CONNECT: wecom, SLACK_CONNECT: slack, ...answers };
}
