import { createReadStream } from 'node:fs';

/** The lines of an audit file. Only a line feed ends a line: for `node:readline` a changed one (`\r`) does too. */
export async function* linesOf(path: string): AsyncGenerator<string> {
  const input = createReadStream(path, { encoding: 'utf8' });
  let rest = '';
  try {
    for await (const piece of input) {
      const lines = (rest + String(piece)).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
    if (rest !== '') yield rest;
  } finally {
    input.destroy();
  }
}
