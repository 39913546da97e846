import { SealError } from './key-ring.ts';
import { parseJson } from '../parse-json.ts';

/** Result of decrypting a sealed record. The caller decides how to handle each case. */
export type OpenResult<Value> =
  | { kind: 'opened'; value: Value }
  /** Sealed with a key that this process does not have. The key may be added later, or another process may have it. */
  | { kind: 'key-lacking'; keyId: string; error: SealError }
  /** Altered, sealed for another owner, or rejected by its reader. */
  | { kind: 'broken'; error: SealError };

/**
 * Opens a sealed text. `error` is safe to log: it contains no content. @throws any error from `open` other than SealError
 */
export function tryOpen(open: () => string): OpenResult<string> {
  try {
    return { kind: 'opened', value: open() };
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    return error.code === 'seal_broken'
      ? { kind: 'broken', error }
      : { kind: 'key-lacking', keyId: error.keyId, error };
  }
}

/**
 * Opens a sealed record, like `tryOpen`.
 * @param read parses the text; returns undefined for invalid content, which then counts as broken
 */
export function tryOpenAs<Value>(open: () => string, read: (plain: string) => Value | undefined): OpenResult<Value> {
  const opened = tryOpen(open);
  if (opened.kind !== 'opened') return opened;
  const value = read(opened.value);
  return value === undefined ? { kind: 'broken', error: misfit() } : { kind: 'opened', value };
}

/** Opens sealed JSON, like `tryOpenAs`. Invalid JSON counts as broken. */
export function tryOpenJson<Value>(open: () => string, read: (value: unknown) => Value | undefined): OpenResult<Value> {
  return tryOpenAs(open, (plain) => read(parseJson(plain)));
}

/**
 * Opens sealed JSON that was sealed for either of two purposes, like `tryOpenJson`. Records that an earlier version must not
 * open are sealed for a separate purpose.
 */
export function tryOpenJsonOfAny<Value>(
  [purpose, next]: readonly [string, string],
  open: (purpose: string) => string,
  read: (value: unknown) => Value | undefined,
): OpenResult<Value> {
  const opened = tryOpenJson(() => open(purpose), read);
  return opened.kind === 'broken' ? tryOpenJson(() => open(next), read) : opened;
}

/**
 * Returns a reader for `tryOpenJson` that requires an object in which these fields are strings. Other fields are not
 * checked.
 */
export function recordWith<Value extends object>(...texts: (keyof Value & string)[]) {
  return (value: unknown): Value | undefined => {
    if (typeof value !== 'object' || value === null) return undefined;
    const fields = value as Readonly<Record<string, unknown>>;
    return texts.every((name) => typeof fields[name] === 'string') ? (value as Value) : undefined;
  };
}

function misfit(): SealError {
  return new SealError('seal_broken', 'A decrypted value has an unknown format');
}
