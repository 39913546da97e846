/**
 * Where a test lets this process die, around a call to the outside: `PARLEY_FAIL_POINT=slack.chat.postMessage:after:exit`
 * (RELIABILITY.md crash-between-post-and-record). It exists under `NODE_ENV=test` only, and costs one comparison otherwise.
 */
const armed = process.env['NODE_ENV'] === 'test' ? process.env['PARLEY_FAIL_POINT'] : undefined;

/** Makes a call to the outside, with a fail point before and one after it. @param name of the call, such as `redis.commit` */
export function outsideCall<Result>(name: string, call: () => Promise<Result>): Promise<Result> {
  return armed === undefined ? call() : callBetweenFailPoints(name, call);
}

async function callBetweenFailPoints<Result>(name: string, call: () => Promise<Result>): Promise<Result> {
  dieIfArmed(`${name}:before`);
  const result = await call();
  dieIfArmed(`${name}:after`);
  return result;
}

/** Dies as a crash does: nothing is closed, nothing is said. */
function dieIfArmed(place: string): void {
  if (armed === `${place}:exit`) process.kill(process.pid, 'SIGKILL');
}
