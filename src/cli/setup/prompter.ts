import { CANCEL_SYMBOL, intro, log, multiselect, outro, password, select, text } from '@clack/prompts';
import { setMaxListeners } from 'node:events';
import type { Readable, Writable } from 'node:stream';

/** An answer that can be chosen. */
export interface Choice {
  value: string;
  label: string;
  hint?: string;
}

/** Asks the person at the terminal. Every method throws `SetupCancelled` on Ctrl+C or at the end of the input. */
export interface Prompter {
  begin(title: string): void;
  end(words: string): void;
  say(words: string): void;
  choose(question: string, choices: readonly Choice[], initial?: string): Promise<string>;
  chooseSeveral(question: string, choices: readonly string[], initial: readonly string[]): Promise<string[]>;
  /** @param validate returns a complaint about an answer that cannot be used */
  text(question: string, validate: (answer: string) => string | undefined, initial?: string): Promise<string>;
  /** Like `text`, but the answer is not shown. */
  secret(question: string, validate: (answer: string) => string | undefined): Promise<string>;
}

export class SetupCancelled extends Error {}

/** @param input a terminal, or a script that types */
export function createPrompter(input: Readable, output: Writable): Prompter {
  const ended = new AbortController();
  // Each question listens.
  setMaxListeners(0, ended.signal);
  input.once('end', () => ended.abort());
  const common = { input, output, signal: ended.signal };
  const taken = async <Value>(answer: Promise<Value | typeof CANCEL_SYMBOL>): Promise<Value> => {
    const given = await answer;
    if (given === CANCEL_SYMBOL) throw new SetupCancelled();
    return given;
  };
  return {
    begin: (title) => intro(title, common),
    end: (words) => outro(words, common),
    say: (words) => log.message(words, common),
    choose: (message, choices, initialValue) =>
      taken(select<string>({ ...common, message, options: [...choices], initialValue, showInstructions: false })),
    chooseSeveral: (message, choices, initialValues) => {
      const options = choices.map((value) => ({ value, label: value }));
      const look = { showInstructions: false, required: true };
      return taken(multiselect<string>({ ...common, ...look, message, options, initialValues: [...initialValues] }));
    },
    text: (message, validate, initialValue) =>
      taken(text({ ...common, message, initialValue, validate: (answer = '') => validate(answer.trim()) })).then(
        (given) => given.trim(),
      ),
    secret: (message, validate) =>
      taken(password({ ...common, message, validate: (answer = '') => validate(answer.trim()) })).then((given) =>
        given.trim(),
      ),
  };
}
