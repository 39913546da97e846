import { Queue, Worker } from 'bullmq';
import { asError } from '../base/coded-error.ts';
import { MINUTE_MS } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { RedisClient } from '../base/redis.ts';
import type { ConversationRef } from '../platforms/conversation-key.ts';

/** What a job holds: where to look, nothing of what was said (security.md 2.5, 4.11). */
export interface SummaryJob {
  version: 1;
  conversation: ConversationRef;
  turnId: string;
  isShared: boolean;
}

export interface SummaryQueueOptions {
  redis: RedisClient;
  /** Whether people wait for answers; nothing is summed up then. Asked once a job. */
  isUnderPressure(): Promise<boolean>;
  /** Does the work of one job. What it throws ends the job: the next question of the conversation asks for it again. */
  summarise(job: SummaryJob, signal: AbortSignal): Promise<unknown>;
  log: Log;
}

const NAMES = { name: 'summaries', prefix: '{summaries}' } as const;
/** Of each process. Answers are what the model is for. */
const JOBS_AT_ONCE = 1;
const LONGEST_JOB_MS = MINUTE_MS;

/**
 * Conversations that are to be summed up, at most one job each that waits or runs. A job whose worker died is begun once
 * more; one that failed is not.
 */
export class SummaryQueue {
  readonly #queue: Queue<SummaryJob>;
  readonly #worker: Worker<SummaryJob>;
  readonly #closing = new AbortController();
  readonly #options: SummaryQueueOptions;

  constructor(options: SummaryQueueOptions) {
    this.#options = options;
    const { redis: connection, log } = options;
    const shared = { connection, prefix: NAMES.prefix, skipVersionCheck: true };
    this.#queue = new Queue(NAMES.name, { ...shared, skipWaitingForReady: true });
    this.#worker = new Worker(NAMES.name, (job) => this.#process(job.data), {
      ...shared,
      concurrency: JOBS_AT_ONCE,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    });
    const told = (error: Error) => log.debug({ error }, 'the queue of summaries reported an error');
    this.#queue.on('error', told);
    this.#worker.on('error', told);
  }

  /** Has a conversation summed up when there is time. Returns at once; a wish that gets lost is wished again. */
  wish({ conversation, turnId, isShared }: Omit<SummaryJob, 'version'>): void {
    const job: SummaryJob = { version: 1, conversation, turnId, isShared };
    const options = { deduplication: { id: conversation.id }, attempts: 1, removeOnComplete: true, removeOnFail: true };
    this.#queue
      .add('summary', job, options)
      .catch((error: unknown) => this.#options.log.debug({ error: asError(error) }, 'a summary was not asked for'));
  }

  /** Breaks off what runs. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([this.#worker.close(), this.#queue.close()]).catch(() => undefined);
  }

  async #process(job: SummaryJob): Promise<void> {
    const { isUnderPressure, summarise, log } = this.#options;
    if ((job.version as number) !== 1 || this.#closing.signal.aborted || (await isUnderPressure())) return;
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(LONGEST_JOB_MS)]);
    try {
      await summarise(job, signal);
    } catch (error) {
      log.debug({ error: asError(error) }, 'a conversation was not summed up');
    }
  }
}
