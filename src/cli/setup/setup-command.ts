import { randomBytes } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { asError } from '../../shared/coded-error.ts';
import { EXIT } from '../../shared/process/exit-codes.ts';
import { localize, type Language } from '../../shared/text/texts.ts';
import type { CheckResult } from '../../bot/platforms/platform.ts';
import { SETTING_NAMES, settingsSchema } from '../../bot/config/schema.ts';
import type { Environment } from '../../bot/config/read-values.ts';
import { checkLine } from '../check/run-checks.ts';
import { createPrompter, SetupCancelled, type Prompter } from './prompter.ts';
import { SettingsFile, type Changes } from './settings-file.ts';
import { TEXTS, type TextName } from './setup-texts.ts';
import { STEPS, type Step, type StepChoice } from './steps.ts';

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

/** Bytes of `SECRET_KEY`. */
const KEY_BYTES = 32;
const SECRET_KEY = 'SECRET_KEY';
/** What `--yes` takes from the environment; not, for example, the proxy of this shell. */
const TAKEN = /^(?:WECOM|SLACK|CHAT|SIGN_IN)_|^(?:MESSENGER_PROTOCOL|REDIS_URL|PUBLIC_URL|SECRET_KEY)$/;

/**
 * `npm run setup`: asks for the settings, tries each answer, and stores it at once, so that an interrupted setup can be
 * continued. Values are never printed if they are secret.
 * @returns the exit code: 0 only if all answers are stored and none is at fault
 */
export async function runSetupCommand(command: SetupCommand): Promise<number> {
  const { env, cwd, asides } = command;
  const language = languageOf(env);
  const say = (name: TextName, values: Record<string, string> = {}) => localize(TEXTS[name], language, values);
  const file = new SettingsFile(env, cwd);
  const setup = new Setup({ ...command, language, say, file });
  try {
    return command.takesEnvironment ? await setup.takeEnvironment() : await setup.ask();
  } catch (thrown) {
    if (thrown instanceof SetupCancelled) asides.write(`${say('cancelled', { path: file.path })}\n`);
    else asides.write(`${asError(thrown).message}\n`);
    return EXIT.failed;
  }
}

function languageOf({ LC_ALL, LC_MESSAGES, LANG }: Environment): Language {
  // An empty variable counts as absent.
  const chosen = [LC_ALL, LC_MESSAGES, LANG].find((one) => one !== undefined && one !== '');
  return chosen?.toLowerCase().startsWith('zh') === true ? 'zh' : 'en';
}

interface SetupOptions extends SetupCommand {
  language: Language;
  say(name: TextName, values?: Record<string, string>): string;
  file: SettingsFile;
}

class Setup {
  readonly #options: SetupOptions;
  #answers: Record<string, string | undefined>;

  constructor(options: SetupOptions) {
    this.#options = options;
    this.#answers = { ...options.file.read() };
  }

  /** `--yes`: takes the answers from the environment, and changes no value that the file already has. */
  async takeEnvironment(): Promise<number> {
    const { env, say, file, output, asides } = this.#options;
    const stored = file.read();
    const given = SETTING_NAMES.filter((name) => TAKEN.test(name) && env[name] !== undefined && env[name] !== '');
    const different = given.filter((name) => stored[name] !== undefined && stored[name] !== env[name]);
    if (different.length > 0) {
      asides.write(`${say('differs', { path: file.path, names: different.join(', ') })}\n`);
      return EXIT.failed;
    }
    const answers = withPlatform({ ...stored, ...Object.fromEntries(given.map((name) => [name, env[name]])) });
    const asked = STEPS.filter((step) => step.isAsked?.(answers) ?? true);
    const missing = asked.filter(
      (step) => !step.choices && step.isOptional?.(answers) !== true && answers[step.setting] === undefined,
    );
    if (missing.length > 0) {
      asides.write(`${say('unset', { names: missing.map(({ setting }) => setting).join(', ') })}\n`);
      return EXIT.usage;
    }
    const wrong = given.flatMap((name) => complaintOf(name, env[name] ?? '') ?? []);
    if (wrong.length > 0) {
      for (const complaint of wrong) asides.write(`${complaint}\n`);
      return EXIT.usage;
    }
    this.#store(answers);
    let hasFault = false;
    for (const { trial } of asked) {
      const results = (await trial?.(this.#answers)) ?? [];
      for (const result of results) output.write(`${this.#lineOf(result)}\n`);
      hasFault ||= isFault(results);
    }
    this.#finish((words) => output.write(`${words}\n`));
    return hasFault ? EXIT.failed : EXIT.ok;
  }

  async ask(): Promise<number> {
    const { say, input, output } = this.#options;
    const prompter = createPrompter(input, output);
    prompter.begin(say('title'));
    const isResumed = (await this.#choosesMissing(prompter)) === 'missing';
    let hasFault = false;
    // After a failed trial, its questions are asked again even in a resumed setup.
    let askedUpTo = -1;
    for (let index = 0; index < STEPS.length; index += 1) {
      const step = STEPS[index] as Step;
      const isDone = isResumed && index > askedUpTo && this.#isAnswered(step);
      if (isDone || step.isAsked?.(this.#answers) === false) continue;
      this.#store(await this.#answerOf(prompter, step));
      if (!step.trial) continue;
      const results = await step.trial(this.#answers);
      if (results.length === 0) continue;
      prompter.say(results.map((result) => this.#lineOf(result)).join('\n'));
      if (!isFault(results)) continue;
      const isKept = await prompter.choose(say('wrong'), [
        { value: '', label: say('again') },
        { value: 'keep', label: say('keep') },
      ]);
      if (isKept === '') {
        askedUpTo = index;
        index = STEPS.findIndex(({ setting }) => setting === (step.returnsTo ?? step.setting)) - 1;
      } else hasFault = true;
    }
    this.#finish((words) => prompter.say(words));
    prompter.end(say('next', { start: this.#options.callOf('start'), check: this.#options.callOf('check') }));
    return hasFault ? EXIT.failed : EXIT.ok;
  }

  async #choosesMissing(prompter: Prompter): Promise<string> {
    const { say, file } = this.#options;
    if (!STEPS.some((step) => this.#isAnswered(step))) return 'all';
    return prompter.choose(say('resume', { path: file.path }), [
      { value: 'missing', label: say('resumeMissing') },
      { value: 'all', label: say('resumeAll'), hint: say('resumeAllHint') },
    ]);
  }

  #isAnswered({ setting, choices }: Step): boolean {
    if (!choices) return this.#answers[setting] !== undefined;
    return choices.some((choice) => this.#isChosen(choice));
  }

  #isChosen({ settings }: StepChoice): boolean {
    const entries = Object.entries(settings);
    return (
      entries.some(([, value]) => value !== undefined) &&
      entries.every(([name, value]) => value === undefined || this.#answers[name] === value)
    );
  }

  async #answerOf(prompter: Prompter, step: Step): Promise<Changes> {
    const { say } = this.#options;
    const question = say(step.question);
    const stored = this.#answers[step.setting];
    if (step.choices) {
      const offered = step.choices.filter((choice) => choice.isOffered?.(this.#answers) ?? true);
      const choices = offered.map(({ label, hint }) => ({
        ...{ value: label, label: say(label) },
        hint: hint && say(hint),
      }));
      const chosen = await prompter.choose(question, choices, offered.find((one) => this.#isChosen(one))?.label);
      return offered.find(({ label }) => label === chosen)?.settings ?? {};
    }
    const listed = (await step.list?.(this.#answers)) ?? [];
    const [only] = listed;
    if (listed.length === 1 && (stored ?? only) === only) return { [step.setting]: only };
    if (listed.length > 1) {
      const before = (stored ?? '').split(',').filter((name) => listed.includes(name));
      const initial = before.length > 0 ? before : listed.slice(0, 1);
      return { [step.setting]: (await prompter.chooseSeveral(question, listed, initial)).join(',') };
    }
    const isOptional = step.isOptional?.(this.#answers) === true;
    const validate = (answer: string) => {
      if (answer !== '') return complaintOf(step.setting, answer);
      return isOptional || (step.isSecret === true && stored !== undefined) ? undefined : say('required');
    };
    if (step.isSecret !== true) {
      const answer = await prompter.text(question, validate, stored ?? step.suggested);
      return { [step.setting]: answer === '' ? undefined : answer };
    }
    const answer = await prompter.secret(stored === undefined ? question : say('keepSecret', { question }), validate);
    return { [step.setting]: answer === '' ? stored : answer };
  }

  /** Stores answers at once, and creates the key for those that need one. */
  #store(changes: Changes): void {
    const { file } = this.#options;
    const answers = { ...this.#answers, ...changes };
    const needsKey = answers['MESSENGER_PROTOCOL'] === undefined && answers[SECRET_KEY] === undefined;
    const key = { [SECRET_KEY]: needsKey ? randomBytes(KEY_BYTES).toString('base64') : answers[SECRET_KEY] };
    this.#answers = { ...answers, ...key };
    file.write(needsKey ? { ...changes, ...key } : changes);
  }

  #finish(say: (words: string) => void): void {
    const { file, say: text, callOf, takesEnvironment } = this.#options;
    say(text('saved', { path: file.path }));
    if (takesEnvironment) say(text('next', { start: callOf('start'), check: callOf('check') }));
  }

  #lineOf(result: CheckResult): string {
    return checkLine(result, 0, this.#options.output.isTTY === true);
  }
}

/** The platform follows from its credentials, so that scripts need not name it twice. */
function withPlatform(answers: Record<string, string | undefined>): Record<string, string | undefined> {
  const has = (name: string) => answers[name] !== undefined;
  const isServing = has('WECOM_BOT_TOKEN') || has('WECOM_BOT_SECRET') || has('SLACK_BOT_TOKEN');
  if (!isServing) return { MESSENGER_PROTOCOL: 'wecom', ...answers };
  const wecom = has('WECOM_BOT_SECRET') ? 'connection' : has('WECOM_BOT_TOKEN') ? 'callback' : undefined;
  const slack = has('SLACK_APP_TOKEN') ? 'socket' : has('SLACK_BOT_TOKEN') ? 'http' : undefined;
  return { WECOM_CONNECT: wecom, SLACK_CONNECT: slack, ...answers };
}

/** What is wrong with the form of a value; the value itself is not repeated. */
function complaintOf(setting: string, value: string): string | undefined {
  const name = SETTING_NAMES.find((each) => each === setting);
  const issue = name && settingsSchema.shape[name].safeParse(value).error?.issues[0];
  return issue && `${setting} ${issue.message}`;
}

function isFault(results: readonly CheckResult[]): boolean {
  return results.some(({ verdict }) => verdict === 'fault');
}
