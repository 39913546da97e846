import { parseArgs } from 'node:util';

/** What `npm start -- …` is asked to do. */
export type StartArguments =
  { kind: 'start'; opensBrowser: boolean } | { kind: 'help' } | { kind: 'wrong'; complaint: string };

export const START_USAGE = `npm start                 runs Parley; in local mode it opens the page in your browser
npm start -- --no-open    the same, and leaves the browser alone
npm start -- --help       this text
`;

/** Reads the arguments of a start; whatever is not in the usage is wrong. */
export function readStartArguments(args: readonly string[]): StartArguments {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { 'no-open': { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    });
    if (values.help === true) return { kind: 'help' };
    return { kind: 'start', opensBrowser: values['no-open'] !== true };
  } catch (error) {
    return {
      kind: 'wrong',
      complaint: error instanceof Error ? (error.message.split('. ')[0] ?? '') : 'cannot be read',
    };
  }
}
