import { CodedError } from './coded-error.ts';

/** Thrown when a probe, a check or a command took too long. */
export class TooSlowError extends CodedError<'too_slow'> {}

/** Waits for a promise no longer than `limitMs`; a late result is dropped. @throws TooSlowError */
export async function withTimeout<Result>(promise: Promise<Result>, limitMs: number): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new TooSlowError('too_slow', `No result in ${limitMs} ms`)), limitMs);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}
