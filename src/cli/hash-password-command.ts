import { EXIT } from '../shared/process/exit-codes.ts';
import { hashPassword } from '../service/oauth/passwords.ts';

interface Terminal {
  input: AsyncIterable<string | Buffer> & { isTTY?: boolean };
  output: { write(text: string): unknown };
  /** Output for messages, because `output` is the hash. */
  asides: { write(text: string): unknown };
}

/**
 * Reads a password from standard input and prints its hash for `SERVICE_DIRECTORY_FILE`. Refuses an empty password.
 * @returns the exit code
 */
export async function runHashPassword({ input, output, asides }: Terminal): Promise<number> {
  if (input.isTTY === true) asides.write('Type the password, then press Enter and Ctrl+D.\n');
  const pieces: Buffer[] = [];
  for await (const piece of input) pieces.push(Buffer.from(piece));
  const typed = Buffer.concat(pieces)
    .toString('utf8')
    .replace(/\r?\n$/, '');
  if (typed.trim() === '') {
    asides.write(
      "No password was given. Pass it on standard input: printf '%s' 'the password' | npm run -s hash-password\n",
    );
    return EXIT.usage;
  }
  output.write(`${await hashPassword(typed)}\n`);
  return EXIT.ok;
}
