// Loaded into a process that must leak: memory, open files and timers, a little every 0.2 s.
import { openSync } from 'node:fs';

const kept = [];
const leak = () => {
  kept.push(Array.from({ length: 75_000 }, (_, index) => index + Math.random()));
  kept.push(
    openSync('/dev/null'),
    setInterval(() => kept.length, 3_600_000),
  );
};
setInterval(leak, 200).unref();
