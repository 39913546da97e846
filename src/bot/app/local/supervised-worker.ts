import { setTimeout as sleep } from 'node:timers/promises';
import { asError } from '../../../shared/coded-error.ts';
import { SECOND_MS } from '../../../shared/clock.ts';
import { Deferred } from '../../../shared/deferred.ts';
import { inBackground } from '../../../shared/in-background.ts';
import { randomToken } from '../../../shared/crypto/ids.ts';
import type { Log } from '../../../shared/log.ts';
import type { WorkerQuestion, WorkerTask } from './worker-messages.ts';
import { WorkerProcess } from './worker-process.ts';

/** Another one that runs in the place of one that ended. */
export interface WorkerSuccession {
  processId: number;
  /** From the end of the one before until this one takes turns. Milliseconds. */
  afterMs: number;
  /** How many turns that were under way it took over. */
  takenOver: number;
}

export interface KeptWorkerOptions {
  program: URL;
  /** With what settings the next one begins. */
  settings(): Pick<WorkerTask, 'config' | 'secrets'>;
  /** Told when another one has taken the place of one that ended. */
  onSuccession(succession: WorkerSuccession): void;
  log: Log;
}

const NAME_BYTES = 12;
/** What ends sooner is not healthy, and another one at once would do no better. */
const YOUNG_MS = 10 * SECOND_MS;
const FIRST_PAUSE_MS = SECOND_MS / 5;
const LONGEST_PAUSE_MS = 5 * SECOND_MS;

/**
 * Keeps one worker process running: one that ends is followed by another, at once the first time, after growing pauses while
 * they die young. Since their end is known for sure, what they had taken is given back without waiting for any lease.
 */
export class KeptWorker {
  readonly #options: KeptWorkerOptions;
  /** Names of those that ended with turns in their hands, until another one has taken these over. */
  readonly #dead: string[] = [];
  #current: WorkerProcess;
  #isStopping = false;
  #youngDeaths = 0;
  /** Settled when the next one takes turns, or comes to nothing. */
  #next = new Deferred();

  private constructor(options: KeptWorkerOptions) {
    this.#options = options;
    this.#current = this.#begin();
  }

  /** @throws Error when the first one does not come up */
  static async start(options: KeptWorkerOptions): Promise<KeptWorker> {
    const kept = new KeptWorker(options);
    try {
      await kept.#current.ready;
    } catch (error) {
      kept.#current.kill();
      throw error;
    }
    inBackground(() => kept.#keep());
    return kept;
  }

  get processId(): number | undefined {
    return this.#current.processId;
  }

  /** @throws Error when it does not answer in a second, or ends */
  ask(question: WorkerQuestion): Promise<unknown> {
    return this.#current.ask(question);
  }

  /** Ends it by `kill -9`; another one follows. */
  kill(): void {
    this.#current.kill();
  }

  /**
   * Lets another one, with the settings of now, take its place in order. Turns that do not end within the grace time go on there.
   * @throws Error when that one does not come up; it is tried again then
   */
  async replace(graceSec: number): Promise<void> {
    const next = this.#next.promise;
    await this.#current.stop(graceSec);
    await next;
  }

  /** Ends it in order, and lets none follow. */
  async stop(graceSec: number): Promise<void> {
    this.#isStopping = true;
    await this.#current.stop(graceSec);
  }

  #begin(): WorkerProcess {
    const task = { ...this.#options.settings(), name: randomToken(NAME_BYTES), deadNames: [...this.#dead] };
    return new WorkerProcess(this.#options.program, task);
  }

  async #keep(): Promise<void> {
    while (await this.#hasEnded()) {
      const endedMs = performance.now();
      await this.#rest();
      if (this.#isStopping) return;
      this.#current = this.#begin();
      await this.#follow(endedMs);
    }
  }

  /** @returns whether another one is to follow */
  async #hasEnded(): Promise<boolean> {
    const { name, ended, processId } = this.#current;
    const { exitCode, signal, afterMs } = await ended;
    if (this.#isStopping) return false;
    // One that ended in order has given everything back itself.
    if (exitCode === 0) return true;
    this.#dead.push(name);
    this.#youngDeaths = afterMs < YOUNG_MS ? this.#youngDeaths + 1 : 0;
    this.#options.log.warn(
      { processId, exitCode, signal },
      'the worker process ended by itself; another one is started',
    );
    return true;
  }

  async #rest(): Promise<void> {
    const pauses = this.#youngDeaths - 1;
    if (pauses > 0) await sleep(Math.min(FIRST_PAUSE_MS * 2 ** (pauses - 1), LONGEST_PAUSE_MS));
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
      this.#options.log.error({ error }, 'the worker process could not be followed by another yet');
      settled.reject(error);
      this.#current.kill();
    }
  }
}
