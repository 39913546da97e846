import type { Translate } from '../terminal/translate.ts';
import { checkLine } from '../check/run-checks.ts';
import { complaintOf, isSecret, type AnswerSheet } from './answer-sheet.ts';
import type { Prompter } from './prompter.ts';
import { readLine } from './read-line.ts';
import type { Changes } from './settings-file.ts';
import type { TextName } from './setup-texts.ts';
import { STEPS, type Step } from './steps.ts';

export type Say = (name: TextName, values?: Record<string, string>) => string;

interface LineForm extends Pick<Step, 'isContinued'> {
  settings: readonly string[];
}

interface InterviewOptions {
  prompter: Prompter;
  sheet: AnswerSheet;
  say: Say;
  isColoured: boolean;
  translate: Translate;
}

/** Asks the questions that are open, and then for approval of all answers. */
export class Interview {
  readonly #options: InterviewOptions;
  /** The steps that are not asked any more. */
  readonly #done: Set<Step>;
  /** The steps whose values were taken without a question. */
  readonly #assumed = new Set<Step>();
  /** The steps with a failed trial that the person keeps. */
  readonly #faulty = new Set<Step>();
  /** The lines of the last trial. */
  #tried: readonly string[] = [];
  /** The words of a line that belong to the next question. */
  #rest: readonly string[] = [];

  /** @param done steps that were answered earlier */
  constructor(options: InterviewOptions, done: readonly Step[]) {
    this.#options = options;
    this.#done = new Set(done);
  }

  /** @returns whether all trials succeeded */
  async run(): Promise<boolean> {
    for (;;) {
      await this.#askOpen();
      const changed = await this.#findChanged();
      if (!changed) return this.#faulty.size === 0;
      this.#reopen(changed);
      await this.#ask(changed, true);
    }
  }

  async #askOpen(): Promise<void> {
    const { sheet } = this.#options;
    for (;;) {
      const step = STEPS.find((each) => !this.#done.has(each) && sheet.isAsked(each));
      if (!step) return;
      await this.#ask(step, false);
    }
  }

  /** @param isChange whether an answer is changed, so that it is not assumed again */
  async #ask(step: Step, isChange: boolean): Promise<void> {
    const { prompter, sheet, say } = this.#options;
    const assumed = isChange ? undefined : await step.assume?.(sheet.values);
    if (assumed) this.#assumed.add(step);
    sheet.store(assumed ?? (await this.#answerOf(step, isChange)));
    sheet.store((await step.derive?.(sheet.values)) ?? {});
    this.#done.add(step);
    this.#faulty.delete(step);
    const results = (await step.trial?.(sheet.values)) ?? [];
    if (results.length === 0) return;
    const lines = results.map((result) =>
      checkLine(result, {
        nameColumns: 0,
        isColoured: this.#options.isColoured,
        translate: this.#options.translate,
      }),
    );
    // A step that continues another one tries its values again; only faults are repeated.
    const fresh = lines.filter((line, at) => results[at]?.verdict === 'fault' || !this.#tried.includes(line));
    if (fresh.length > 0) prompter.say(fresh.join('\n'));
    this.#tried = lines;
    if (results.every(({ verdict }) => verdict !== 'fault')) return;
    const isKept = await prompter.choose(say('wrong'), [
      { value: '', label: say('again') },
      { value: 'keep', label: say('keep') },
    ]);
    if (isKept !== '') this.#faulty.add(step);
    else this.#reopen(STEPS.find(({ settings: [first] }) => first === step.returnsTo) ?? step);
  }

  /** Asks a step again, and with it the steps after it that depend on it. */
  #reopen(step: Step): void {
    this.#done.delete(step);
    this.#rest = [];
    for (const later of STEPS.slice(STEPS.indexOf(step) + 1))
      if (this.#assumed.delete(later) || step.reopens?.includes(later.settings[0])) this.#done.delete(later);
  }

  /** Shows all answers. @returns the step to be changed; undefined if everything is right */
  async #findChanged(): Promise<Step | undefined> {
    const { prompter, sheet, say } = this.#options;
    const shown = STEPS.filter((step) => sheet.isAsked(step));
    const rows = await Promise.all(shown.map((step) => this.#rowsOf(step)));
    prompter.say(rows.flat().join('\n'));
    const changes = shown.map(({ settings: [first] }) => ({
      value: first,
      label: say('change', { name: say(first) }),
    }));
    const chosen = await prompter.choose(say('summary'), [{ value: '', label: say('finish') }, ...changes]);
    return shown.find(({ settings: [first] }) => first === chosen);
  }

  async #rowsOf(step: Step): Promise<string[]> {
    const { sheet, say } = this.#options;
    const chosen = step.choices?.find((choice) => sheet.isChosen(choice));
    const first = say(step.settings[0]);
    if (chosen) return [`${first}${/[?？]$/.test(first) ? '' : ':'} ${say(chosen.label)}`];
    const rows = step.settings.map(async (name) => {
      const value = sheet.values[name];
      if (value !== undefined) return isSecret(name) && !step.isShown ? say('hidden') : withoutPassword(value);
      const listed = (await step.list?.(sheet.values)) ?? [];
      return listed.length === 0 ? say('empty') : say('allListed', { names: listed.join(', ') });
    });
    return (await Promise.all(rows)).map(
      (value, index) => `${say(step.settings[index] ?? step.settings[0])}: ${value}`,
    );
  }

  async #answerOf(step: Step, isChange: boolean): Promise<Changes> {
    const { prompter, sheet, say } = this.#options;
    const [first] = step.settings;
    if (step.choices) {
      const offered = step.choices.filter((choice) => choice.isOffered?.(sheet.values) ?? true);
      if (offered.length === 1) return offered[0]?.settings ?? {};
      const choices = offered.map(({ label, hint }) => ({ value: label, label: say(label), hint: hint && say(hint) }));
      const chosen = await prompter.choose(say(first), choices, offered.find((one) => sheet.isChosen(one))?.label);
      return offered.find(({ label }) => label === chosen)?.settings ?? {};
    }
    const listed = (await step.list?.(sheet.values)) ?? [];
    if (listed.length === 0) return this.#valuesOf(step);
    const stored = (sheet.values[first] ?? '').split(',').filter((name) => listed.includes(name));
    // A long list is not offered as a whole.
    const unstored = isChange ? listed : listed.slice(0, 1);
    const taken = await prompter.chooseSeveral(say(first), listed, stored.length > 0 ? stored : unstored);
    return { [first]: taken.length === listed.length ? undefined : taken.join(',') };
  }

  /** The values of one line, or of several if a line does not have all of them. */
  async #valuesOf(step: Step): Promise<Changes> {
    const { sheet } = this.#options;
    let values: Changes = {};
    const takeLine = (line: string) => {
      const open = step.settings.filter((name) => values[name] === undefined);
      const read = readLine(line, open, step.isContinued);
      values = { ...values, ...read.values };
      this.#rest = read.rest;
    };
    const rest = this.#rest.join(' ');
    this.#rest = [];
    if (rest !== '' && complaintsOf(rest, step).length === 0) takeLine(rest);
    for (;;) {
      const open = step.settings.filter((name) => values[name] === undefined);
      if (open.length === 0) return values;
      const line = await this.#lineOf(step, open);
      if (line !== '') takeLine(line);
      // Nothing typed keeps what is stored, or means none.
      else if (isHidden(step, open) && isStored(sheet, open)) return values;
      else
        return { ...values, ...Object.fromEntries(open.map((name) => [name, undefined])), ...step.whenEmpty?.settings };
    }
  }

  async #lineOf(step: Step, open: readonly TextName[]): Promise<string> {
    const { prompter, sheet, say, translate } = this.#options;
    const isSecretLine = isHidden(step, open);
    const isKept = isSecretLine && isStored(sheet, open);
    // A line that was begun is completed.
    const whenEmpty = open.length === step.settings.length ? step.whenEmpty : undefined;
    const notes = [
      open.length > 1 ? say('inOneLine') : '',
      isKept ? say('kept') : whenEmpty ? say(whenEmpty.note) : '',
    ].filter((note) => note !== '');
    const names = open.map((name) => say(name)).join(say('listComma'));
    const question = notes.length === 0 ? names : say('withNote', { names, note: notes.join(say('noteComma')) });
    const validate = (line: string) => {
      if (line === '') return isKept || whenEmpty ? undefined : say('required');
      const [complaint] = complaintsOf(line, { ...step, settings: open });
      return complaint === undefined ? undefined : translate(complaint);
    };
    if (isSecretLine) return prompter.secret(question, validate);
    return prompter.text(question, validate, sheet.values[open[0] ?? ''] ?? step.suggested);
  }
}

/** Whether a line is typed unseen. */
function isHidden(step: Step, settings: readonly string[]): boolean {
  return step.isShown !== true && settings.some(isSecret);
}

function isStored(sheet: AnswerSheet, settings: readonly string[]): boolean {
  return settings.every((name) => sheet.values[name] !== undefined);
}

function complaintsOf(line: string, { settings, isContinued }: LineForm): string[] {
  const { values } = readLine(line, settings, isContinued);
  return Object.entries(values).flatMap(([name, value]) => complaintOf(name, value) ?? []);
}

/** An address, or a list of them. A password may contain `@`. */
function withoutPassword(value: string): string {
  return value.replace(/\/\/[^/?#,]*@/g, '//…@');
}
