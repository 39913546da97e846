import { setTimeout as sleep } from 'node:timers/promises';
import { SECOND_MS } from '../../shared/clock.ts';
import { inBackground } from '../../shared/in-background.ts';
import { threadModule } from '../../shared/process/worker-pool.ts';
import type { ConversationRef } from '../domain/conversation.ts';
import { conversationKeys } from '../domain/partition-keys.ts';
import type { SearchLocal } from '../knowledge/create-knowledge.ts';
import { newWorkerName } from '../queue/claim-name.ts';
import { Quarantine } from '../queue/quarantine.ts';
import { endClaimScript } from '../queue/reclaim.ts';
import type { Base, BotOptions } from './base.ts';
import { WorkerProcess } from './local/worker-process.ts';

/** Unanswered questions in a row, each of which waits for a second, after which a process counts as blocked. */
const MAX_SILENCES = 4;

export interface QuarantineNeeds {
  /** Takes a turn in this process, to give it up. */
  takeGuilty(conversation: ConversationRef): Promise<void>;
  searchLocal: SearchLocal;
}

/** Runs suspected turns in processes with the settings of this one. */
export function createQuarantine(
  { config, secrets }: Pick<BotOptions, 'config' | 'secrets'>,
  { redis, wakeQueue }: Pick<Base, 'redis' | 'wakeQueue'>,
  { takeGuilty, searchLocal }: QuarantineNeeds,
): Quarantine {
  const program = threadModule('./local-worker-process.js', import.meta.url);
  return new Quarantine({
    start(onLeft) {
      const task = { config, secrets, name: newWorkerName(), deadNames: [], isQuarantine: true };
      const started = new WorkerProcess(program, task, { onLeft, searchLocal });
      inBackground(() => killWhenSilent(started));
      return started;
    },
    endClaim: (conversation, worker) => endClaimScript.run(redis, conversationKeys(conversation), { worker }),
    takeGuilty,
    wake: (conversation) => wakeQueue.wake(conversation),
  });
}

/**
 * Ends a blocked process. When its claims run out, another worker may take its turns, so that nothing else would tell this
 * one. It takes about eight seconds, less than a claim's life.
 */
async function killWhenSilent(process: WorkerProcess): Promise<void> {
  const life = { hasEnded: false };
  inBackground(async () => {
    await process.ended;
    life.hasEnded = true;
  });
  await process.ready;
  for (let silences = 0; silences < MAX_SILENCES; await sleep(SECOND_MS, undefined, { ref: false })) {
    if (life.hasEnded) return;
    silences = await process.ask('running').then(
      () => 0,
      () => silences + 1,
    );
  }
  process.kill();
}
