import { SealError } from './key-ring.ts';

/** What became of opening a sealed record. Whoever opens one says what each case is to them. */
export type Opened<Value> =
  | { kind: 'opened'; value: Value }
  /** Sealed by a key that this process does not have; another may have it, or have it again. */
  | { kind: 'key-lacking'; keyId: string; error: SealError }
  /** Altered, of another owner, or nothing that its reader takes. */
  | { kind: 'broken'; error: SealError };

/** Opens a sealed text. `error` is for a log: it holds nothing of the content. @throws whatever else `open` throws */
export function tryOpen(open: () => string): Opened<string> {
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
 * Opens a sealed record, as `tryOpen`.
 * @param read makes the value of the text; undefined for what it does not take, which then counts as broken
 */
export function tryOpenAs<Value>(open: () => string, read: (plain: string) => Value | undefined): Opened<Value> {
  const opened = tryOpen(open);
  if (opened.kind !== 'opened') return opened;
  const value = read(opened.value);
  return value === undefined ? { kind: 'broken', error: misfit() } : { kind: 'opened', value };
}

/** Opens sealed JSON, as `tryOpenAs`. What is no JSON counts as broken too. */
export function tryOpenJson<Value>(open: () => string, read: (value: unknown) => Value | undefined): Opened<Value> {
  return tryOpenAs(open, (plain) => read(parsed(plain)));
}

/**
 * Opens sealed JSON that is of the first of these purposes or of the next, as `tryOpenJson`: what an earlier version must not open has
 * a purpose of its own.
 */
export function tryOpenJsonOfAny<Value>(
  [purpose, next]: readonly [string, string],
  open: (purpose: string) => string,
  read: (value: unknown) => Value | undefined,
): Opened<Value> {
  const opened = tryOpenJson(() => open(purpose), read);
  return opened.kind === 'broken' ? tryOpenJson(() => open(next), read) : opened;
}

/** A reader for `tryOpenJson`: takes an object in which these fields are texts, and believes the rest. */
export function recordWith<Value extends object>(...texts: (keyof Value & string)[]) {
  return (value: unknown): Value | undefined => {
    if (typeof value !== 'object' || value === null) return undefined;
    const fields = value as Readonly<Record<string, unknown>>;
    return texts.every((name) => typeof fields[name] === 'string') ? (value as Value) : undefined;
  };
}

function parsed(plain: string): unknown {
  try {
    return JSON.parse(plain);
  } catch {
    // The error is not passed on: its message quotes the content.
    return undefined;
  }
}

function misfit(): SealError {
  return new SealError('seal_broken', 'A sealed value opens, but is nothing that its reader takes');
}
