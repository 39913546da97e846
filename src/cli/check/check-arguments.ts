import { SECOND_MS } from '../../shared/clock.ts';
import type { ImpersonationArgs } from './impersonation-args.ts';

/** What `check` does, from its options. */
export type CheckArguments =
  | { kind: 'settings'; isJson: boolean }
  | { kind: 'sign-in'; person?: string; codeAgesMs?: number[] }
  | { kind: 'as'; asked: ImpersonationArgs; isJson: boolean };

/** The options of `check` as typed. */
export interface CheckOptions {
  signIn?: boolean;
  person?: string;
  codeAges?: number[];
  as?: ImpersonationArgs;
  json?: boolean;
}

const MAX_AGES = 8;
const MAX_AGE_SEC = 60;

export const CODE_AGES_FORM = `takes at most ${MAX_AGES} increasing numbers of seconds, up to ${MAX_AGE_SEC}`;
export const AS_FORM = 'takes a person and a place, such as "JG 3100 private" or "unlinked group ID"';

/** Combines the options. @returns a complaint if they exclude each other */
export function readCheckOptions(options: CheckOptions): CheckArguments | string {
  const { signIn = false, person, codeAges: codeAgesMs, as, json: isJson = false } = options;
  if (as) return signIn ? '--as and --sign-in cannot be combined' : { kind: 'as', asked: as, isJson };
  if (signIn) return isJson ? '--json and --sign-in cannot be combined' : { kind: 'sign-in', person, codeAgesMs };
  if (person !== undefined || codeAgesMs) return '--person and --code-ages require --sign-in';
  return { kind: 'settings', isJson };
}

/** Reads ages in seconds. @returns milliseconds; undefined if the text does not have the form of `CODE_AGES_FORM` */
export function readCodeAges(text: string): number[] | undefined {
  const ages = text.split(',').map((age) => (/^\d{1,2}(\.\d{1,3})?$/.test(age) ? Number(age) : Number.NaN));
  const isRising = ages.every((age, index) => age > (ages[index - 1] ?? 0) && age <= MAX_AGE_SEC);
  return isRising && ages.length <= MAX_AGES ? ages.map((age) => Math.round(age * SECOND_MS)) : undefined;
}
