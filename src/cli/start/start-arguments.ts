import { parseArgs } from 'node:util';

/** The parsed arguments of `npm start -- …`. */
export type StartArguments =
  { kind: 'start'; opensBrowser: boolean } | { kind: 'help' | 'version' } | { kind: 'wrong'; complaint: string };

export const START_USAGE = `npm start                 runs Parley; in local mode it opens the page in your browser
npm start -- --no-open    the same without opening a browser
npm start -- --version    prints the version
npm start -- --help       prints this text
`;

/** Parses the arguments of a start. Anything not in the usage text is an error. */
export function readStartArguments(args: readonly string[]): StartArguments {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        'no-open': { type: 'boolean' },
        version: { type: 'boolean', short: 'v' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    if (values.help === true) return { kind: 'help' };
    if (values.version === true) return { kind: 'version' };
    return { kind: 'start', opensBrowser: values['no-open'] !== true };
  } catch (error) {
    return {
      kind: 'wrong',
      complaint: error instanceof Error ? (error.message.split('. ')[0] ?? '') : 'The arguments cannot be parsed',
    };
  }
}
