import { randomBytes } from 'node:crypto';
import { settingInfo } from '../../bot/config/setting.ts';
import { SETTING_NAMES, settingsSchema } from '../../bot/config/schema.ts';
import { secretFile, type Changes, type SettingsFile } from './settings-file.ts';
import type { Step, StepChoice } from './steps.ts';
import type { Answers } from './trials.ts';

/** Bytes of `SECRET_KEY`. */
const KEY_BYTES = 32;
const SECRET_KEY = 'SECRET_KEY';

type AnswerFile = Pick<SettingsFile, 'read' | 'readSecretFiles' | 'write'>;

/** The answers of a setup. Each is written at once. */
export class AnswerSheet {
  readonly #file: AnswerFile;
  /** Secrets in files of their own. */
  #apart: Answers;
  #values: Answers;

  constructor(file: AnswerFile) {
    this.#file = file;
    this.#apart = file.readSecretFiles();
    const names = Object.keys(this.#apart).map(secretFile);
    const own = Object.entries(file.read()).filter(([name]) => !names.includes(name));
    this.#values = { ...Object.fromEntries(own), ...this.#apart };
  }

  get values(): Answers {
    return this.#values;
  }

  /** Stores answers, and creates the key for a deployment that needs one. */
  store(changes: Changes): void {
    const values = { ...this.#values, ...changes };
    const needsKey = values['MESSENGER_PROTOCOL'] === undefined && values[SECRET_KEY] === undefined;
    const all = needsKey ? { ...changes, [SECRET_KEY]: randomBytes(KEY_BYTES).toString('base64') } : changes;
    this.#file.write(this.#keepFiles(all));
    this.#values = { ...values, ...all };
  }

  /** An unchanged secret stays in its file. A new one is stored in the settings file. */
  #keepFiles(changes: Changes): Changes {
    const isApart = (name: string) => this.#apart[name] !== undefined;
    const changed = Object.entries(changes).filter(([name, value]) => !isApart(name) || value !== this.#apart[name]);
    const replaced = changed.map(([name]) => name).filter(isApart);
    for (const name of replaced) this.#apart = { ...this.#apart, [name]: undefined };
    return {
      ...Object.fromEntries(changed),
      ...Object.fromEntries(replaced.map((name) => [secretFile(name), undefined])),
    };
  }

  isAsked(step: Step): boolean {
    return step.isAsked?.(this.#values) ?? true;
  }

  isAnswered({ settings, choices }: Step): boolean {
    return choices
      ? choices.some((choice) => this.isChosen(choice))
      : settings.every((name) => this.#values[name] !== undefined);
  }

  isChosen({ settings }: StepChoice): boolean {
    const entries = Object.entries(settings);
    return (
      entries.some(([, value]) => value !== undefined) &&
      entries.every(([name, value]) => value === undefined || this.#values[name] === value)
    );
  }
}

/** What is wrong with the form of a value; the value itself is not repeated. */
export function complaintOf(setting: string, value: string): string | undefined {
  const name = SETTING_NAMES.find((each) => each === setting);
  const issue = name && settingsSchema.shape[name].safeParse(value).error?.issues[0];
  return issue && `${setting} ${issue.message}`;
}

export function isSecret(setting: string): boolean {
  const name = SETTING_NAMES.find((each) => each === setting);
  return name !== undefined && settingInfo.get(settingsSchema.shape[name])?.isSecret === true;
}
