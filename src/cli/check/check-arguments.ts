import { parseArgs } from 'node:util';
import { readImpersonationArgs, type ImpersonationArgs } from './impersonation-args.ts';
import type { CheckFormat } from './run-checks.ts';
import { SECOND_MS } from '../../shared/clock.ts';

/** The parsed arguments of `npm run check -- …`. */
export type CheckArguments =
  | { kind: 'settings'; format: CheckFormat }
  | { kind: 'sign-in'; person?: string; codeAgesMs?: number[] }
  | { kind: 'as'; asked: ImpersonationArgs }
  | { kind: 'help' }
  | { kind: 'wrong'; complaint: string };

export const CHECK_USAGE = `npm run check                   tests each configured service: one line each with ok, hint, warning or fault, and the next step
npm run -s check -- --json      the same as JSON
npm run check -- --sign-in      tests real sign-ins in your browser and reports how the sign-in service behaves; stop Parley first
    --person USERID             also compares this chat user id with the profile's id (SIGN_IN_PROOF=same-id)
    --code-ages SEC,SEC,…       ages of the codes to test, in seconds; defaults to 1,5,9,11
npm run check -- --as "JG 3100 private"   shows the policy rule, scene, models, tools and documents of a person in a place;
                                other examples: "XS 2203 group ID", "unlinked private"; append wecom or slack for one platform
npm run check -- --help         prints this text
`;

const MAX_AGES = 8;
const MAX_AGE_SEC = 60;

/** Parses the arguments after `check`. Anything not in the usage text is an error. */
export function readCheckArguments(args: readonly string[]): CheckArguments {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        help: { type: 'boolean', short: 'h' },
        json: { type: 'boolean' },
        'sign-in': { type: 'boolean' },
        as: { type: 'string' },
        person: { type: 'string' },
        'code-ages': { type: 'string' },
      },
    });
    if (values.help === true) return { kind: 'help' };
    const { person, 'code-ages': ages } = values;
    if (values.json === true && (values.as !== undefined || values['sign-in'] === true))
      return wrong('--json cannot be combined with --as or --sign-in');
    if (values.as !== undefined) return readAs(values.as, values['sign-in'] === true);
    if (values['sign-in'] !== true) {
      if (person !== undefined || ages !== undefined) return wrong('--person and --code-ages require --sign-in');
      return { kind: 'settings', format: values.json === true ? 'json' : 'text' };
    }
    if (person === '') return wrong('--person requires a user id');
    const codeAgesMs = ages === undefined ? undefined : readAges(ages);
    if (ages !== undefined && !codeAgesMs)
      return wrong(`--code-ages takes at most ${MAX_AGES} increasing numbers of seconds, up to ${MAX_AGE_SEC}`);
    return { kind: 'sign-in', person, codeAgesMs };
  } catch (error) {
    return wrong(error instanceof Error ? (error.message.split('. ')[0] ?? '') : 'The arguments cannot be parsed');
  }
}

function readAs(text: string, isSignIn: boolean): CheckArguments {
  if (isSignIn) return wrong('--as and --sign-in cannot be combined');
  const asked = readImpersonationArgs(text);
  return asked
    ? { kind: 'as', asked }
    : wrong('--as requires a person and a place, such as "JG 3100 private" or "unlinked group ID"');
}

function readAges(text: string): number[] | undefined {
  const ages = text.split(',').map((age) => (/^\d{1,2}(\.\d{1,3})?$/.test(age) ? Number(age) : Number.NaN));
  const isRising = ages.every((age, index) => age > (ages[index - 1] ?? 0) && age <= MAX_AGE_SEC);
  return isRising && ages.length <= MAX_AGES ? ages.map((age) => Math.round(age * SECOND_MS)) : undefined;
}

function wrong(complaint: string): CheckArguments {
  return { kind: 'wrong', complaint };
}
