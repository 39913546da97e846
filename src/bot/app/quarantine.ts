import { threadModule } from '../../shared/process/worker-pool.ts';
import type { ConversationRef } from '../domain/conversation.ts';
import { conversationKeys } from '../domain/partition-keys.ts';
import type { SearchLocal } from '../knowledge/create-knowledge.ts';
import { newWorkerName } from '../queue/claim-name.ts';
import { Quarantine } from '../queue/quarantine.ts';
import { endClaimScript } from '../queue/reclaim.ts';
import type { Base, BotOptions } from './base.ts';
import { WorkerProcess } from './local/worker-process.ts';

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
      return new WorkerProcess(program, task, { onLeft, searchLocal });
    },
    endClaim: (conversation, worker) => endClaimScript.run(redis, conversationKeys(conversation), { worker }),
    takeGuilty,
    wake: (conversation) => wakeQueue.wake(conversation),
  });
}
