import { parseArgs } from 'node:util';
import { readAskedAs, type AskedAs } from './impersonation-args.ts';
import { SECOND_MS } from '../../shared/clock.ts';

/** What `npm run check -- …` is asked to do. */
export type CheckArguments =
  | { kind: 'settings' }
  | { kind: 'sign-in'; person?: string; codeAgesMs?: number[] }
  | { kind: 'as'; asked: AskedAs }
  | { kind: 'help' }
  | { kind: 'wrong'; complaint: string };

export const CHECK_USAGE = `npm run check                   tries the settings live: one line each, ok, warning or fault, and the next step
npm run check -- --sign-in      signs in for real in your browser and says how the sign-in service behaves; stop Parley first
    --person USERID             says too whether this messaging user id equals the profile's (SIGN_IN_PROOF=same-id)
    --code-ages SEC,SEC,…       how old the codes are that it tries; 1,5,9,11 unless told
npm run check -- --as "JG 3100 private"   says which rule and which scene fit whom, and what they may use; also "XS 2203 group ID", "unlinked private",
                                with wecom or slack behind it where that counts
npm run check -- --help         this text
`;

const MAX_AGES = 8;
const MAX_AGE_SEC = 60;

/** Reads the arguments after `check`; whatever is not in the usage is wrong. */
export function readCheckArguments(args: readonly string[]): CheckArguments {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        help: { type: 'boolean', short: 'h' },
        'sign-in': { type: 'boolean' },
        as: { type: 'string' },
        person: { type: 'string' },
        'code-ages': { type: 'string' },
      },
    });
    if (values.help === true) return { kind: 'help' };
    const { person, 'code-ages': ages } = values;
    if (values.as !== undefined) return readAs(values.as, values['sign-in'] === true);
    if (values['sign-in'] !== true) {
      if (person !== undefined || ages !== undefined) return wrong('--person and --code-ages go with --sign-in');
      return { kind: 'settings' };
    }
    if (person === '') return wrong('--person needs a user id');
    const codeAgesMs = ages === undefined ? undefined : readAges(ages);
    if (ages !== undefined && !codeAgesMs)
      return wrong(`--code-ages needs at most ${MAX_AGES} rising numbers of seconds up to ${MAX_AGE_SEC}`);
    return { kind: 'sign-in', person, codeAgesMs };
  } catch (error) {
    return wrong(error instanceof Error ? (error.message.split('. ')[0] ?? '') : 'cannot be read');
  }
}

function readAs(text: string, isSignIn: boolean): CheckArguments {
  if (isSignIn) return wrong('--as and --sign-in do not go together');
  const asked = readAskedAs(text);
  return asked
    ? { kind: 'as', asked }
    : wrong('--as needs who and where, such as "JG 3100 private" or "unlinked group ID"');
}

function readAges(text: string): number[] | undefined {
  const ages = text.split(',').map((age) => (/^\d{1,2}(\.\d{1,3})?$/.test(age) ? Number(age) : Number.NaN));
  const isRising = ages.every((age, index) => age > (ages[index - 1] ?? 0) && age <= MAX_AGE_SEC);
  return isRising && ages.length <= MAX_AGES ? ages.map((age) => Math.round(age * SECOND_MS)) : undefined;
}

function wrong(complaint: string): CheckArguments {
  return { kind: 'wrong', complaint };
}
