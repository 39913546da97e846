// Preloaded into a process (`node --import`): offsets its wall clock as its parent requests, like a clock that was set by
// hand or by a time server. Changes only Date, for the whole process; the monotonic clock is unaffected.
import { isMainThread } from 'node:worker_threads';

const RightDate = globalThis.Date;
const rightNow = RightDate.now;
let offsetMs = 0;

globalThis.Date = new Proxy(RightDate, {
  construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  apply: (target) => new target(now()).toString(),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});

function now() {
  return rightNow() + offsetMs;
}

if (isMainThread && process.send) {
  process.on('message', (message) => {
    if (typeof message?.clockOffByMs === 'number') offsetMs = message.clockOffByMs;
  });
  // The channel alone must not keep a process alive.
  process.channel?.unref();
}
