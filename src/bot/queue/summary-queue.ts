import { Queue, Worker } from 'bullmq';
import { abortAfter } from '../../shared/abort-after.ts';
import { asError } from '../../shared/coded-error.ts';
import { MINUTE_MS } from '../../shared/clock.ts';
import type { Log } from '../../shared/log.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import type { ConversationRef } from '../domain/conversation.ts';
import type { DeliveryId, PersonId } from '../domain/ids.ts';
import { closeWorkers } from './close-workers.ts';

/** Job data: references only, no message text (SECURITY.md secrets-stay-inside, versioned-payloads). */
export interface SummaryJob {
  version: 1;
  conversation: ConversationRef;
  turnId: DeliveryId;
  isShared: boolean;
  /** Pseudonym of the person for whom usage is counted. Absent in jobs of an older version, which count for no one. */
  personId?: PersonId;
}

export interface SummaryQueueOptions {
  redis: RedisClient;
  /** Whether people wait for answers, or the model is paused. If so, nothing is summarised. Called once per job. */
  isUnderPressure(): Promise<boolean>;
  /** Processes one job. An error ends the job: a later question of the conversation requests it again. */
  summarise(job: SummaryJob, signal: AbortSignal): Promise<unknown>;
  log: Log;
}

const NAMES = { name: 'summaries', prefix: '{summaries}' } as const;
/** Jobs per process. Answers take precedence over summaries. */
const JOBS_AT_ONCE = 1;
const MAX_JOB_MS = MINUTE_MS;
/** Seconds between two polls of an idle worker. A new job wakes it at once. */
const IDLE_LOOK_SEC = 20;

/** BullMQ objects of a process that has requested a summary. */
interface Parts {
  queue: Queue<SummaryJob>;
  worker: Worker<SummaryJob>;
}

/**
 * Queue of conversations to summarise, with at most one waiting or running job each. A failed job is not retried;
 * conversation/scripts/try-summary.lua notes when the next question may request it. BullMQ starts with the process's first
 * request: each process that requests summaries also runs them, and a deployment that needs none has no cost.
 */
export class SummaryQueue {
  readonly #closing = new AbortController();
  readonly #options: SummaryQueueOptions;
  #parts?: Parts;

  constructor(options: SummaryQueueOptions) {
    this.#options = options;
  }

  /** Requests a summary for when there is time. Returns at once; a later question repeats a lost request. */
  request({ conversation, turnId, isShared, personId }: Omit<SummaryJob, 'version'>): void {
    if (this.#closing.signal.aborted) return;
    const job: SummaryJob = { version: 1, conversation, turnId, isShared, personId };
    const options = { deduplication: { id: conversation.id }, attempts: 1, removeOnComplete: true, removeOnFail: true };
    this.#parts ??= this.#start();
    this.#parts.queue
      .add('summary', job, options)
      .catch((error: unknown) => this.#options.log.debug({ error: asError(error) }, 'a summary could not be queued'));
  }

  /** Aborts running jobs, and ends in time even if Redis is unavailable. */
  async close(): Promise<void> {
    this.#closing.abort();
    if (!this.#parts) return;
    const { queue, worker } = this.#parts;
    // Running jobs were aborted above; a later question requests them again.
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
    const signal = abortAfter(MAX_JOB_MS, this.#closing.signal);
    try {
      await summarise(job, signal);
    } catch (error) {
      log.debug({ error: asError(error) }, 'a conversation could not be summarised');
    }
  }
}
