import { setTimeout as sleep } from 'node:timers/promises';
import { MINUTE_MS, monotonicMs, SECOND_MS } from '../../shared/clock.ts';
import { inBackground } from '../../shared/in-background.ts';
import { processorMsOf } from '../../shared/process/processor-time.ts';
import { threadModule } from '../../shared/process/worker-pool.ts';
import type { ConversationRef } from '../domain/conversation.ts';
import type { SearchLocal } from '../knowledge/create-knowledge.ts';
import { newPartName } from '../queue/claim-name.ts';
import { Quarantine, type QuarantineOptions } from '../queue/quarantine.ts';
import { endClaims } from '../queue/reclaim.ts';
import type { Base, BotOptions } from './base.ts';
import type { ProcessMetrics } from './worker-process/process-metrics.ts';
import { WorkerProcess } from './worker-process/worker-process.ts';

/** Processor time that a process may use without an answer. On a busy machine a sound process gets too little to answer soon. */
const MAX_BUSY_MS = 4 * SECOND_MS;
/** How long a process may be silent that uses no processor time, for example because it is suspended. */
const MAX_SILENT_MS = 30 * SECOND_MS;
/** How long a process may take to start. */
const START_LIMIT_MS = MINUTE_MS;

export interface QuarantineNeeds {
  /** Name under which this process claims turns. */
  workerName: string;
  /** Takes a turn in this process, to give it up. */
  takeGuilty(conversation: ConversationRef): Promise<void>;
  takeBack: QuarantineOptions['takeBack'];
  searchLocal: SearchLocal;
  metrics: Pick<ProcessMetrics, 'note' | 'end'>;
}

/** Runs suspected turns in processes with the settings of this one. */
export function createQuarantine(
  { secrets }: Pick<BotOptions, 'secrets'>,
  { redis, wakeQueue, listedModels }: Pick<Base, 'redis' | 'wakeQueue' | 'listedModels'>,
  { workerName, takeGuilty, takeBack, searchLocal, metrics }: QuarantineNeeds,
): Quarantine {
  const program = threadModule('./local-worker-process.js', import.meta.url);
  return new Quarantine({
    start(onLeft) {
      const name = newPartName(workerName);
      const task = { config: listedModels.configForChild, secrets, name, deadNames: [], isQuarantine: true };
      const started = new WorkerProcess(program, task, {
        searchLocal,
        onLeft(conversationId, counts) {
          metrics.note(name, counts);
          onLeft(conversationId);
        },
      });
      inBackground(() => killWhenBlocked(started));
      inBackground(async () => {
        await started.ended;
        metrics.end(name);
      });
      return started;
    },
    endClaim: ({ partition }, worker) => endClaims(redis, partition, [worker]),
    takeGuilty,
    takeBack,
    wake: (conversation) => wakeQueue.wake(conversation),
  });
}

/** Ends a blocked process. When its claims run out, nothing else would tell that it still has the turns. */
export async function killWhenBlocked(
  process: Pick<WorkerProcess, 'ready' | 'ended' | 'ask' | 'kill' | 'processId'>,
): Promise<void> {
  const life = { hasEnded: false };
  inBackground(async () => {
    await process.ended;
    life.hasEnded = true;
  });
  const now = async () => ({ atMs: monotonicMs(), usedMs: (await processorMsOf(process.processId)) ?? monotonicMs() });
  const isReady = await Promise.race([process.ready, sleep(START_LIMIT_MS, false, { ref: false })]);
  if (isReady === false) return process.kill();
  for (let answered = await now(); ; await sleep(SECOND_MS, undefined, { ref: false })) {
    const hasAnswered = await process.ask('running').then(
      () => true,
      () => false,
    );
    if (life.hasEnded) return;
    const { atMs, usedMs } = await now();
    if (hasAnswered) answered = { atMs, usedMs };
    else if (usedMs - answered.usedMs >= MAX_BUSY_MS || atMs - answered.atMs >= MAX_SILENT_MS) return process.kill();
  }
}
