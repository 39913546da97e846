import { parseArgs } from 'node:util';

/** What `npm run eval -- …` is asked to do. */
export type EvalArguments =
  | { kind: 'eval'; file: string | undefined; against: string | undefined; judgesAll: boolean; perMinute: number }
  | { kind: 'help' }
  | { kind: 'wrong'; complaint: string };

export const EVAL_USAGE = `npm run eval                         asks the shipped questions over the example documents
npm run eval -- FILE                 asks those of a YAML file, and says which answers are not as they should be
    --against RUN.json               compares with an earlier run
    --judge                          has the model judge each answer too, beside the exact checks
    --per-minute N                   asks at most N questions a minute; 30 unless told
npm run eval -- --help               this text
`;

const USUAL_PER_MINUTE = 30;
const MOST_PER_MINUTE = 600;

/** Reads the arguments after `eval`; whatever is not in the usage is wrong. */
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
    if (positionals.length > 1) return { kind: 'wrong', complaint: 'One file of questions at a time' };
    const { against, judge: judgesAll = false, 'per-minute': pace } = values;
    const perMinute = pace === undefined ? USUAL_PER_MINUTE : Number(pace);
    if (!(perMinute >= 1 && perMinute <= MOST_PER_MINUTE))
      return { kind: 'wrong', complaint: `--per-minute needs a number from 1 to ${MOST_PER_MINUTE}` };
    return { kind: 'eval', file: positionals[0], against, judgesAll, perMinute };
  } catch (error) {
    // Its class is Node's own, of whichever realm.
    return { kind: 'wrong', complaint: (error as Error).message.split('. ')[0] ?? '' };
  }
}
