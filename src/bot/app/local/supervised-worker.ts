import { setTimeout as sleep } from 'node:timers/promises';
import { asError } from '../../../shared/coded-error.ts';
import { SECOND_MS } from '../../../shared/clock.ts';
import { Deferred } from '../../../shared/deferred.ts';
import { inBackground } from '../../../shared/in-background.ts';
import { randomToken } from '../../../shared/crypto/ids.ts';
import type { Log } from '../../../shared/log.ts';
import type { WorkerQuestion, WorkerTask } from '../worker-process/worker-messages.ts';
import { WorkerProcess } from '../worker-process/worker-process.ts';

/** A worker process that replaced an ended one. */
export interface WorkerSuccession {
  processId: number;
  /** Milliseconds from the end of the previous process until this one takes turns. */
  afterMs: number;
  /** Number of running turns that it took over. */
  takenOver: number;
}

export interface SupervisedWorkerOptions {
  program: URL;
  /** Settings of the next process. */
  settings(): Pick<WorkerTask, 'config' | 'secrets'>;
  /** Called when a process has replaced an ended one. */
  onSuccession(succession: WorkerSuccession): void;
  log: Log;
}

const NAME_BYTES = 12;
/** A process that ends sooner is unhealthy, and an immediate restart would not help. */
const MIN_HEALTHY_MS = 10 * SECOND_MS;
const FIRST_PAUSE_MS = SECOND_MS / 5;
const MAX_PAUSE_MS = 5 * SECOND_MS;

/**
 * Keeps one worker process running. A process that ends is replaced, at once the first time and after growing pauses while
 * the replacements end early. Because its end is certain, its turns are given back without waiting for a lease.
 */
export class SupervisedWorker {
  readonly #options: SupervisedWorkerOptions;
  /** Names of processes that ended with running turns, until another process has taken these over. */
  readonly #dead: string[] = [];
  #current: WorkerProcess;
  #isStopping = false;
  #youngDeaths = 0;
  /** Settles when the next process takes turns or has failed. */
  #next = new Deferred();

  private constructor(options: SupervisedWorkerOptions) {
    this.#options = options;
    this.#current = this.#begin();
  }

  /** @throws Error when the first process does not start */
  static async start(options: SupervisedWorkerOptions): Promise<SupervisedWorker> {
    const kept = new SupervisedWorker(options);
    try {
      await kept.#current.ready;
    } catch (error) {
      kept.#current.kill();
      throw error;
    }
    inBackground(() => kept.#supervise());
    return kept;
  }

  get processId(): number | undefined {
    return this.#current.processId;
  }

  /** @throws Error when the process does not answer within a second, or ends */
  ask(question: WorkerQuestion): Promise<unknown> {
    return this.#current.ask(question);
  }

  /** Ends the process with `kill -9`; it is replaced. */
  kill(): void {
    this.#current.kill();
  }

  /**
   * Replaces the process in order by one with the current settings. Turns that do not end within the grace period continue
   * there.
   * @throws Error when the new process does not start; starting is then tried again
   */
  async replace(graceSec: number): Promise<void> {
    const next = this.#next.promise;
    await this.#current.stop(graceSec);
    await next;
  }

  /** Stops the process in order without replacing it. */
  async stop(graceSec: number): Promise<void> {
    this.#isStopping = true;
    await this.#current.stop(graceSec);
  }

  #begin(): WorkerProcess {
    const task = { ...this.#options.settings(), name: randomToken(NAME_BYTES), deadNames: [...this.#dead] };
    return new WorkerProcess(this.#options.program, task);
  }

  async #supervise(): Promise<void> {
    while (await this.#hasEnded()) {
      const endedMs = performance.now();
      await this.#rest();
      if (this.#isStopping) return;
      this.#current = this.#begin();
      await this.#follow(endedMs);
    }
  }

  /** @returns whether the process must be replaced */
  async #hasEnded(): Promise<boolean> {
    const { name, ended, processId } = this.#current;
    const { exitCode, signal, afterMs } = await ended;
    if (this.#isStopping) return false;
    // A process that ended in order has given back everything itself.
    if (exitCode === 0) return true;
    this.#dead.push(name);
    this.#youngDeaths = afterMs < MIN_HEALTHY_MS ? this.#youngDeaths + 1 : 0;
    this.#options.log.warn(
      { processId, exitCode, signal },
      'the worker process ended unexpectedly; Parley starts another',
    );
    return true;
  }

  async #rest(): Promise<void> {
    const pauses = this.#youngDeaths - 1;
    if (pauses > 0) await sleep(Math.min(FIRST_PAUSE_MS * 2 ** (pauses - 1), MAX_PAUSE_MS));
  }

  async #follow(endedMs: number): Promise<void> {
    const settled = this.#next;
    this.#next = new Deferred();
    settled.promise.catch(() => undefined);
    const { ready, processId = 0 } = this.#current;
    try {
      const takenOver = await ready;
      this.#dead.length = 0;
      const afterMs = performance.now() - endedMs;
      this.#options.log.info(
        { processId, afterMs: Math.round(afterMs), takenOver },
        'another worker process took over',
      );
      this.#options.onSuccession({ processId, afterMs, takenOver });
      settled.resolve();
    } catch (thrown) {
      const error = asError(thrown);
      this.#options.log.error({ error }, 'no other worker process could be started yet');
      settled.reject(error);
      this.#current.kill();
    }
  }
}
