import { CodedError } from './coded-error.ts';

/** Thrown when a probe, a check or a command exceeds its time limit. */
export class TooSlowError extends CodedError<'too_slow'> {}

/** Waits for a promise for at most `limitMs`; a late result is dropped. @throws TooSlowError */
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
