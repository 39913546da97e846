import { inStep, isTracing } from './tracing/tracing.ts';

/**
 * Point around an external call at which a test can crash this process:
 * `PARLEY_FAIL_POINT=slack.chat.postMessage:after:exit` (RELIABILITY.md crash-between-post-and-record). Active only under
 * `NODE_ENV=test`; otherwise it costs one comparison.
 */
const armed = process.env['NODE_ENV'] === 'test' ? process.env['PARLEY_FAIL_POINT'] : undefined;

/**
 * Makes an external call, with a fail point before and after it, as a step of the trace that it belongs to.
 * @param name of the call, such as `redis.commit`
 */
export function outsideCall<Result>(name: string, call: () => Promise<Result>): Promise<Result> {
  return isTracing() ? inStep(name, () => withFailPoints(name, call), OF_A_CALL) : withFailPoints(name, call);
}

const OF_A_CALL = { kind: 'client' } as const;

/** As `outsideCall`, for a call that has a more telling span. */
export function withFailPoints<Result>(name: string, call: () => Promise<Result>): Promise<Result> {
  return armed === undefined ? call() : callBetweenFailPoints(name, call);
}

async function callBetweenFailPoints<Result>(name: string, call: () => Promise<Result>): Promise<Result> {
  dieIfArmed(`${name}:before`);
  const result = await call();
  dieIfArmed(`${name}:after`);
  return result;
}

/** Exits like a crash: nothing is closed or logged. */
function dieIfArmed(place: string): void {
  if (armed === `${place}:exit`) process.kill(process.pid, 'SIGKILL');
}
