import { afterEach, expect, test } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

const HOUR_MS = 3_600_000;
/** Reports its clocks on every message. */
const PROGRAM = `
process.on('message', () => process.send({
  now: Date.now(), made: new Date().getTime(), said: Date.parse(Date()), monotonic: performance.now(),
  given: new Date(5).getTime(), isDate: new Date() instanceof Date, utc: Date.UTC(1970, 0, 1, 0, 0, 1),
}));
setInterval(() => {}, 1_000);
process.send({});
`;

interface Clocks {
  now: number;
  made: number;
  said: number;
  monotonic: number;
  given: number;
  isDate: boolean;
  utc: number;
}

let child: ChildProcess | undefined;
afterEach(() => void child?.kill('SIGKILL'));

test('a process with a shifted clock reads it everywhere through Date, keeps its monotonic clock, and returns to the right time', async () => {
  const started = spawn(process.execPath, ['--import', './chaos/stepping-clock.mjs', '--eval', PROGRAM], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  child = started;
  await once(started, 'message');
  const read = async (offByMs: number): Promise<Clocks> => {
    started.send({ clockOffByMs: offByMs });
    const [clocks] = (await once(started, 'message')) as [Clocks];
    return clocks;
  };
  const right = await read(0);
  for (const offByMs of [HOUR_MS, -HOUR_MS, 0]) {
    const wrong = await read(offByMs);
    for (const clock of ['now', 'made', 'said'] as const)
      expect(Math.abs(wrong[clock] - offByMs - Date.now())).toBeLessThan(HOUR_MS / 4);
    expect(wrong.monotonic - right.monotonic).toBeGreaterThanOrEqual(0);
    expect(wrong.monotonic - right.monotonic).toBeLessThan(HOUR_MS / 4);
    expect(wrong).toMatchObject({ given: 5, isDate: true, utc: 1_000 });
  }
});
