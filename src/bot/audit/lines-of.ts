import { createReadStream } from 'node:fs';

/** Longer than any entry. A longer line, of a changed file, is read in parts, which no check accepts. */
const MAX_LINE_CHARS = 1_048_576;

/** The lines of an audit file. Only a line feed ends a line: for `node:readline` a changed one (`\r`) does too. */
export async function* linesOf(path: string): AsyncGenerator<string> {
  const input = createReadStream(path, { encoding: 'utf8' });
  let rest = '';
  try {
    for await (const piece of input) {
      const lines = (rest + String(piece)).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
      if (rest.length > MAX_LINE_CHARS) {
        yield rest;
        rest = '';
      }
    }
    if (rest !== '') yield rest;
  } finally {
    input.destroy();
  }
}
