import { expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { ProcessMetrics } from '../../../src/bot/app/worker-process/process-metrics.ts';
import { WorkerProcess } from '../../../src/bot/app/worker-process/worker-process.ts';
import { Deferred } from '../../../src/shared/deferred.ts';
import { killWhenBlocked } from '../../../src/bot/app/quarantine.ts';

const PROGRAM = new URL('./silent-process.mjs', import.meta.url);
type Task = ConstructorParameters<typeof WorkerProcess>[1];
type Conversation = Parameters<WorkerProcess['run']>[0];

test('a blocked process is killed; one that gets no processor time is not [poison-turns]', async () => {
  const [spinning, suspended, sound] = ['spin', 'suspend', 'answer'].map((how) => {
    const process = new WorkerProcess(PROGRAM, { name: how } as Task);
    void killWhenBlocked(process);
    return process;
  }) as [WorkerProcess, WorkerProcess, WorkerProcess];
  try {
    for (const process of [spinning, suspended, sound]) {
      await process.ready;
      process.run(process.name as unknown as Conversation);
    }
    expect(await spinning.ended).toMatchObject({ signal: 'SIGKILL' });
    const others = Promise.race([suspended.ended, sound.ended]);
    expect(await Promise.race([others, sleep(5_000, 'alive')])).toBe('alive');
  } finally {
    for (const process of [spinning, suspended, sound]) process.kill();
    await Promise.all([suspended.ended, sound.ended]);
  }
}, 60_000);

test('the counts of processes stay in the sum after they have ended', async () => {
  const metrics = new ProcessMetrics();
  const runOne = async (name: string) => {
    const left = new Deferred();
    const process = new WorkerProcess(PROGRAM, { name } as Task, {
      searchLocal: async () => [],
      onLeft: (_id, counts) => left.resolve(metrics.note(name, counts)),
    });
    await process.ready;
    process.run('answer' as unknown as Conversation);
    await left.promise;
    return process;
  };
  const [first, second] = [await runOne('one'), await runOne('two')];
  first.kill();
  await first.ended;
  metrics.end('one');
  expect(await metrics.sum()).toMatchObject([{ name: 'turns', values: [{ value: 4 }] }]);
  second.kill();
  await second.ended;
});

test('a blocked process ends with a parent that is killed', async () => {
  const parent = spawn(process.execPath, [new URL('./blocked-child.mjs', import.meta.url).pathname], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const childId = Number(await new Promise<Buffer>((resolve) => parent.stdout.once('data', resolve)));
  const isAlive = () => {
    try {
      return process.kill(childId, 0);
    } catch {
      return false;
    }
  };
  expect(isAlive()).toBe(true);
  parent.kill('SIGKILL');
  while (isAlive()) await sleep(50);
}, 20_000);
