// Loaded before a process (`node --import`): its wall clock then goes wrong by as much as its parent says, as a clock that was
// set by hand or by a time server. Date alone is changed, for everything in the process; the monotonic clock runs on.
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
  // The channel alone keeps no process alive.
  process.channel?.unref();
}
