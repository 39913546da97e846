import { Queue, Worker } from 'bullmq';
import { asError } from '../../shared/coded-error.ts';
import { MINUTE_MS } from '../../shared/clock.ts';
import type { Log } from '../../shared/log.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import type { ConversationRef } from '../domain/conversation.ts';
import type { DeliveryId, PersonId } from '../domain/ids.ts';
import { closeWorkers } from './close-workers.ts';

/** What a job holds: where to look, nothing of what was said (SECURITY.md secrets-stay-inside, versioned-payloads). */
export interface SummaryJob {
  version: 1;
  conversation: ConversationRef;
  turnId: DeliveryId;
  isShared: boolean;
  /** Whom it is counted for, by pseudonym; absent in a job of an older version, which is counted for nobody. */
  personId?: PersonId;
}

export interface SummaryQueueOptions {
  redis: RedisClient;
  /** Whether people wait for answers; nothing is summed up then. Asked once a job. */
  isUnderPressure(): Promise<boolean>;
  /** Does the work of one job. What it throws ends the job: a later question of the conversation asks for it again. */
  summarise(job: SummaryJob, signal: AbortSignal): Promise<unknown>;
  log: Log;
}

const NAMES = { name: 'summaries', prefix: '{summaries}' } as const;
/** Of each process. Answers are what the model is for. */
const JOBS_AT_ONCE = 1;
const LONGEST_JOB_MS = MINUTE_MS;
/** An idle worker looks again so seldom; a new job wakes it at once. */
const IDLE_LOOK_SEC = 20;

/** What BullMQ needs of a process that has asked for a summary. */
interface Parts {
  queue: Queue<SummaryJob>;
  worker: Worker<SummaryJob>;
}

/**
 * Conversations that are to be summed up, at most one job each that waits or runs. One that failed is not begun again; when
 * the next question may ask for it is noted where the summary stands (conversation/scripts/try-summary.lua). Nothing of BullMQ runs before the process's first request: whoever requests one has a worker that
 * takes what waits, so nothing is left lying, and where every conversation fits its prompt nobody pays for the queue.
 */
export class SummaryQueue {
  readonly #closing = new AbortController();
  readonly #options: SummaryQueueOptions;
  #parts?: Parts;

  constructor(options: SummaryQueueOptions) {
    this.#options = options;
  }

  /** Has a conversation summed up when there is time. Returns at once; a request that gets lost is made again. */
  request({ conversation, turnId, isShared, personId }: Omit<SummaryJob, 'version'>): void {
    if (this.#closing.signal.aborted) return;
    const job: SummaryJob = { version: 1, conversation, turnId, isShared, personId };
    const options = { deduplication: { id: conversation.id }, attempts: 1, removeOnComplete: true, removeOnFail: true };
    this.#parts ??= this.#start();
    this.#parts.queue
      .add('summary', job, options)
      .catch((error: unknown) => this.#options.log.debug({ error: asError(error) }, 'a summary was not asked for'));
  }

  /** Breaks off what runs, and ends in time though Redis is away. */
  async close(): Promise<void> {
    this.#closing.abort();
    if (!this.#parts) return;
    const { queue, worker } = this.#parts;
    // What runs was told to end just now, and is asked for again by a later question.
    await closeWorkers([worker], { redis: this.#options.redis, hasJobs: false, jobsMs: 0 });
    await queue.close().catch((error: unknown) => asError(error));
  }

  #start(): Parts {
    const { redis: connection, log } = this.#options;
    const shared = { connection, prefix: NAMES.prefix, skipVersionCheck: true };
    const queue = new Queue<SummaryJob>(NAMES.name, { ...shared, skipWaitingForReady: true });
    const worker = new Worker<SummaryJob>(NAMES.name, (job) => this.#process(job.data), {
      ...shared,
      concurrency: JOBS_AT_ONCE,
      drainDelay: IDLE_LOOK_SEC,
      stalledInterval: MINUTE_MS,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    });
    const told = (error: Error) => log.debug({ error }, 'the queue of summaries reported an error');
    queue.on('error', told);
    worker.on('error', told);
    return { queue, worker };
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
