import { expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { WorkerProcess } from '../../../src/bot/app/worker-process/worker-process.ts';
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
