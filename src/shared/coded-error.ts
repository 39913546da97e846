/**
 * An error that a caller can act on: it branches on `code`, never on the message.
 * The message names what failed for a log; it must never hold message text, tokens or keys (SECURITY.md secrets-stay-inside).
 */
export class CodedError<Code extends string = string> extends Error {
  readonly code: Code;

  constructor(code: Code, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** Turns whatever was thrown into an Error, so that the edges handle one type. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(`A non-error was thrown (${typeof thrown})`);
}
