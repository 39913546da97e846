import { randomBytes } from 'node:crypto';
import { settingInfo } from '../../bot/config/setting.ts';
import { SETTING_NAMES, settingsSchema } from '../../bot/config/schema.ts';
import type { Changes, SettingsFile } from './settings-file.ts';
import type { Step, StepChoice } from './steps.ts';
import type { Answers } from './trials.ts';

/** Bytes of `SECRET_KEY`. */
const KEY_BYTES = 32;
const SECRET_KEY = 'SECRET_KEY';

/** The answers of a setup. Each is stored in the settings file at once. */
export class AnswerSheet {
  readonly #file: SettingsFile;
  #values: Answers;

  constructor(file: SettingsFile) {
    this.#file = file;
    this.#values = { ...file.read() };
  }

  get values(): Answers {
    return this.#values;
  }

  /** Stores answers, and creates the key for a deployment that needs one. */
  store(changes: Changes): void {
    const values = { ...this.#values, ...changes };
    const needsKey = values['MESSENGER_PROTOCOL'] === undefined && values[SECRET_KEY] === undefined;
    const all = needsKey ? { ...changes, [SECRET_KEY]: randomBytes(KEY_BYTES).toString('base64') } : changes;
    this.#values = { ...values, ...all };
    this.#file.write(all);
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
