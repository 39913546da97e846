import { Worker, type Job, type WorkerOptions } from 'bullmq';
import { asError } from '../../shared/coded-error.ts';
import { inBackground } from '../../shared/in-background.ts';
import type { WakeJob } from './wake-queue.ts';

/** Maximum concurrent fetches. */
const MAX_FETCHES = 32;

/**
 * A BullMQ worker that takes a backlog at once. BullMQ's own loop fetches one job after the other until all slots are taken,
 * and completes finished jobs only then, so a burst starts at one round trip per job. This loop starts and completes wakes
 * independently, and doubles its fetches while each of them finds a wake.
 */
export class WakeWorker extends Worker<WakeJob> {
  /** Wakes that run, or whose fetch is under way. */
  #held = 0;
  #fetches = 0;
  /** A failed fetch has used up the signal of a waiting wake, so the next one does not wait for a signal. */
  #hasFailed = false;
  /** Set while all slots are taken. */
  #onFreeSlot: (() => void) | undefined;

  constructor(name: string, run: (job: Job<WakeJob>) => Promise<void>, options: WorkerOptions) {
    super(name, run, { ...options, autorun: false });
    this.run().catch((error: unknown) => this.emit('error', asError(error)));
  }

  override async run(): Promise<void> {
    if (this.closing !== undefined || this.paused) return;
    this.running = true;
    try {
      await this.startStalledCheckTimer();
      // `close` waits for it.
      this.mainLoopRunning = this.#readQueue();
      await this.mainLoopRunning;
    } finally {
      this.running = false;
    }
  }

  async #readQueue(): Promise<void> {
    while (this.closing === undefined && !this.paused) {
      if (this.#held >= this.concurrency) await this.#freeSlot();
      else if (await this.#take(!this.#hasFailed)) await this.#takeBacklog();
    }
    while (this.#held > 0) await this.#freeSlot();
  }

  /** Takes wakes until a fetch finds none, or all slots are taken. */
  async #takeBacklog(): Promise<void> {
    for (let limit = 1; this.#held < this.concurrency; limit = Math.min(2 * limit, MAX_FETCHES)) {
      const count = Math.min(limit, this.concurrency - this.#held);
      const found = await Promise.all(Array.from({ length: count }, () => this.#take(false)));
      if (!found.every(Boolean)) return;
    }
  }

  /** Fetches a wake and begins to run it. @param block whether to wait for one. @returns whether there was one */
  async #take(block: boolean): Promise<boolean> {
    this.#held += 1;
    const token = `${this.id}:${this.#fetches++}`;
    const job = await this.#fetch(token, block);
    if (job) inBackground(() => this.#runAll(job).finally(() => this.#leaveSlot()));
    else this.#leaveSlot();
    return job !== undefined;
  }

  async #fetch(token: string, block: boolean): Promise<Job<WakeJob> | undefined> {
    try {
      const job = await this.getNextJob(token, { block });
      this.#hasFailed = false;
      return job;
    } catch (error) {
      this.#hasFailed = true;
      this.emit('error', asError(error));
      // Redis is unavailable, or refuses writes.
      if (this.closing === undefined) await this.delay(this.opts.runRetryDelay);
      return undefined;
    }
  }

  /** Runs a wake, and those that Redis returns in exchange for a finished one. */
  async #runAll(first: Job<WakeJob>): Promise<void> {
    for (let job: Job<WakeJob> | undefined = first; job;)
      job = (await this.processJob(job, job.token ?? '')) ?? undefined;
  }

  #leaveSlot(): void {
    this.#held -= 1;
    this.#onFreeSlot?.();
  }

  async #freeSlot(): Promise<void> {
    await new Promise<void>((resolve) => (this.#onFreeSlot = resolve));
    this.#onFreeSlot = undefined;
  }
}
