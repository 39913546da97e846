/**
 * An error that a caller can handle: branch on `code`, never on the message. The message names what failed for a log; it
 * must never hold message text, tokens or keys (SECURITY.md secrets-stay-inside).
 */
export class CodedError<Code extends string = string> extends Error {
  readonly code: Code;

  constructor(code: Code, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** Converts any thrown value into an Error, so that boundary code handles one type. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(`A value that is not an error was thrown (${typeof thrown})`);
}
