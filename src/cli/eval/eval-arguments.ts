import { parseArgs } from 'node:util';

/** The parsed arguments of `npm run eval -- …`. */
export type EvalArguments =
  | { kind: 'eval'; file: string | undefined; against: string | undefined; judgesAll: boolean; perMinute: number }
  | { kind: 'help' }
  | { kind: 'wrong'; complaint: string };

export const EVAL_USAGE = `npm run eval                         asks the included questions about the example documents
npm run eval -- FILE                 asks the questions of a YAML file and reports answers that fail their checks
    --against RUN.json               compares with an earlier run
    --judge                          also has the model judge each answer
    --per-minute N                   maximum questions per minute; defaults to 30
npm run eval -- --help               prints this text
`;

const DEFAULT_PER_MINUTE = 30;
const MAX_PER_MINUTE = 600;

/** Parses the arguments after `eval`. Anything not in the usage text is an error. */
export function readEvalArguments(args: readonly string[]): EvalArguments {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        against: { type: 'string' },
        judge: { type: 'boolean' },
        'per-minute': { type: 'string' },
      },
    });
    if (values.help === true) return { kind: 'help' };
    if (positionals.length > 1) return { kind: 'wrong', complaint: 'Only one file of questions is allowed' };
    const { against, judge: judgesAll = false, 'per-minute': pace } = values;
    const perMinute = pace === undefined ? DEFAULT_PER_MINUTE : Number(pace);
    if (!(perMinute >= 1 && perMinute <= MAX_PER_MINUTE))
      return { kind: 'wrong', complaint: `--per-minute takes a number from 1 to ${MAX_PER_MINUTE}` };
    return { kind: 'eval', file: positionals[0], against, judgesAll, perMinute };
  } catch (error) {
    // Not `instanceof`: Node's error class may come from another realm.
    return { kind: 'wrong', complaint: (error as Error).message.split('. ')[0] ?? '' };
  }
}
