import { Worker, type Job } from 'bullmq';
import { asError } from '../base/coded-error.ts';
import { SECOND_MS, type NowMs } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { RedisClient } from '../base/redis.ts';
import type { ConversationRef } from '../platforms/conversation-key.ts';
import { closeWorkers } from './close-workers.ts';
import { EntryError, MissingKeyError } from './inbox-entry.ts';
import { MissingKeys } from './missing-keys.ts';
import type { QueueReport } from './queue-report.ts';
import { QueuePressure, type Pressure, type PressureLimits, type TakenWake } from './queue-pressure.ts';
import { StopListener } from './stop-listener.ts';
import { isMeantBy, marksOf, type StopMark } from './stop-mark.ts';
import { SuspectLane } from './suspect-lane.ts';
import { SWEEP_AFTER_MS } from './sweeper.ts';
import type { TurnClaim, TurnCommit, TurnStore } from './turn-store.ts';
import { shardNames, WAKE_VERSION, type WakeJob, type WakeQueue } from './wake-queue.ts';

/**
 * Why a running turn is told to end early. `stopped` keeps and shows what there is; the others show nothing more.
 * `yielded`: it has given its place up to messages that were said before it.
 */
export type AbortReason = 'stopped' | 'fenced' | 'shutdown' | 'yielded';

/** What a turn may do while it runs, beside reading its claim. */
export interface TurnContext {
  claim: TurnClaim;
  /** Aborted with an `AbortReason` as its reason. */
  signal: AbortSignal;
  /** How much waits behind this turn. One that had begun before is not to suffer from it: its answer was shown in part. */
  pressure(): Pressure;
  /** Ends the turn as fenced: a write of its own was refused. */
  fenced(): void;
  /** Ends the turn as stopped: the person pressed the platform's own button. */
  stopped(): void;
  /** Asks the fence before an outside post; aborts and @returns false when a newer epoch has taken over. */
  renew(): Promise<boolean>;
  /** Stores the full answer before it goes out the last way (security.md 4.4). @returns false when fenced */
  storeAnswer(text: string): Promise<boolean>;
  /** Seals the full answer as it is stored, for a script that stores it together with something else. */
  sealAnswer(text: string): string;
  /** Whether this worker's lock cannot have run out yet, not even if the process was frozen meanwhile. */
  isClaimHeld(): boolean;
  /** Brings the conversation's held messages back in front of this turn. Where there are any, it ends: they run first. */
  yieldToHeld(): Promise<void>;
}

/** Runs one turn to its commit; called by the worker, given by the composition root. Errors inside a turn are outcomes, not throws. */
export type RunTurn = (context: TurnContext) => Promise<TurnCommit>;
/** Says sorry for a turn that is given up. */
export type ApologiseFor = (claim: TurnClaim) => Promise<TurnCommit>;

export interface TurnWorkerOptions {
  redis: RedisClient;
  store: TurnStore;
  wakeQueue: WakeQueue;
  shards: number;
  /** Turns at once in this process. */
  concurrency: number;
  /** A turn is given up after its worker died so often (design: poison). */
  maxCrashes: number;
  pressureLimits: PressureLimits;
  runTurn: RunTurn;
  apologise: ApologiseFor;
  /** Called once a turn is held. @returns how many messages it brought back, its own among them */
  onHeld(claim: TurnClaim): Promise<number>;
  nowMs: NowMs;
  log: Log;
  report: QueueReport;
}

/** security.md 4.1: a dead worker's turn goes on elsewhere after about ten seconds, not after BullMQ's sixty. */
const LOCK_MS = 10 * SECOND_MS;
/** So long after a lock was taken nobody can have taken the turn over: the rest is room for clocks that run unevenly. */
const SURELY_HELD_MS = LOCK_MS - 2 * SECOND_MS;
const STALLED_SCAN_MS = 2.5 * SECOND_MS;
/** Crashes are counted per turn, never per job, so BullMQ's own count must not end anything. */
const NEVER = 1_000_000;
/** Below the sweeper's patience, so that a running turn is not woken again and again. */
const RENEW_EVERY_MS = 4 * SECOND_MS;
const SUSPECT_AFTER_CRASHES = 2;
const SOLO_CRASHES_TO_GIVE_UP = 3;

/** The wake for which a turn runs. */
interface RunningWake extends Pick<TakenWake, 'pressure'> {
  jobId: string;
  /** Until when BullMQ's lock on it holds although it were never renewed; by the monotonic clock, ms. */
  heldUntilMs: number;
}

/** Takes wakes from the queue and runs one turn for each, fenced by the conversation's epoch. */
export class TurnWorker {
  readonly #options: TurnWorkerOptions;
  readonly #workers: Worker<WakeJob>[];
  readonly #stops: StopListener;
  readonly #running = new Map<string, AbortController>();
  readonly #suspects = new SuspectLane();
  readonly #pressure: QueuePressure;
  /** What this process cannot read for want of a key. */
  readonly missingKeys: MissingKeys;
  #isClosing = false;
  #isGraceOver = false;

  constructor(options: TurnWorkerOptions) {
    this.#options = options;
    this.#stops = new StopListener(options.redis);
    this.missingKeys = new MissingKeys(options.report);
    const { pressureLimits: limits, wakeQueue } = options;
    this.#pressure = new QueuePressure({ ...options, limits, readWaiting: () => wakeQueue.waiting() });
    this.#workers = Array.from({ length: options.shards }, (_, shard) => this.#startWorker(shard));
  }

  /** Turns that run in this process now. */
  get runningTurns(): number {
    return this.#running.size;
  }

  /** Whether the queue is being read. */
  isReady(): boolean {
    return !this.#isClosing && this.#workers.every((worker) => worker.isRunning());
  }

  /**
   * Orderly stop (security.md 4.9): takes no more wakes, lets turns run for `graceMs`, gives the rest back for another
   * worker or the next start, and ends.
   */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    this.#suspects.close();
    const timer = setTimeout(() => {
      this.#isGraceOver = true;
      for (const controller of this.#running.values()) controller.abort('shutdown' satisfies AbortReason);
    }, graceMs);
    const { redis } = this.#options;
    await closeWorkers(this.#workers, { redis, hasJobs: this.#running.size > 0, jobsMs: graceMs });
    clearTimeout(timer);
    this.#stops.close();
  }

  #startWorker(shard: number): Worker<WakeJob> {
    const { redis, concurrency, log, report } = this.#options;
    const { name, prefix } = shardNames(shard);
    const worker = new Worker<WakeJob>(name, (job) => this.#processWake(job, shard), {
      connection: redis,
      prefix,
      concurrency,
      lockDuration: LOCK_MS,
      stalledInterval: STALLED_SCAN_MS,
      maxStalledCount: NEVER,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
      skipVersionCheck: true,
    });
    worker.on('error', (error) => log.debug({ error }, 'the wake worker reported an error'));
    worker.on('stalled', () => report.queueStalled());
    worker.on('failed', (_job, error) => report.runFailed({ error }));
    worker.on('lockRenewalFailed', (jobIds) => this.#onLockLost(jobIds, report));
    return worker;
  }

  /** Without the lock another worker may have begun: stop posting at once; the fence refuses what still slips out. */
  #onLockLost(jobIds: string[], report: QueueReport): void {
    report.lockRenewalFailed({ jobs: jobIds.length });
    for (const jobId of jobIds) this.#running.get(jobId)?.abort('fenced' satisfies AbortReason);
  }

  async #processWake(job: Job<WakeJob>, shard: number): Promise<void> {
    const { conversation, version } = job.data;
    // A wake is only a hint: what it was for is pending, and the sweeper wakes it in a way that this worker knows.
    if ((version as number) !== WAKE_VERSION) return this.#options.report.newerVersionMet({ what: 'wake' });
    const wake = this.#pressure.take(shard, job.timestamp);
    try {
      const running = { jobId: job.id ?? conversation.id, heldUntilMs: heldUntilMs(job), pressure: wake.pressure };
      const waiting = await this.#runNextTurn(conversation, running);
      // One turn a wake keeps it fair: others that wait come before this conversation's next turn.
      if (waiting > 0) await this.#options.wakeQueue.wake(conversation);
    } finally {
      wake.leave();
    }
  }

  /** @returns how many messages wait after it */
  async #runNextTurn(conversation: ConversationRef, wake: RunningWake): Promise<number> {
    const { store, report } = this.#options;
    const claim = await store.begin(conversation).catch((error: unknown) => {
      if (error instanceof MissingKeyError) this.missingKeys.note(conversation.id, error.keyId);
      else if (error instanceof EntryError) report.newerVersionMet({ what: 'message' });
      else throw error;
    });
    if (!claim) return 0;
    this.missingKeys.found(conversation.id);
    const { turnId, unreadable, isAnswerLost } = claim;
    if (unreadable.length > 0) report.messagesBroken({ turnId, count: unreadable.length });
    if (isAnswerLost) report.storedAnswerLost({ turnId });
    if (claim.crashes > 0) report.turnResumed({ turnId: claim.turnId, crashes: claim.crashes });
    if (claim.crashes < SUSPECT_AFTER_CRASHES) return this.#runClaimed(claim, wake);

    if (claim.crashes >= this.#options.maxCrashes && claim.soloCrashes >= SOLO_CRASHES_TO_GIVE_UP)
      return this.#giveUp(claim);
    return this.#runSuspect(claim, wake);
  }

  /** A crash while it waits for the others speaks against whoever runs, not against it. */
  async #runSuspect(claim: TurnClaim, wake: RunningWake): Promise<number> {
    const { store } = this.#options;
    if (!(await store.markWaiting(claim))) return 0;
    const leave = await this.#suspects.enter();
    if (!leave) {
      await this.#giveBack(claim);
      return 1;
    }
    try {
      return (await store.markSolo(claim)) ? await this.#runClaimed(claim, wake) : 0;
    } finally {
      leave();
    }
  }

  async #runClaimed(claim: TurnClaim, { jobId, pressure, heldUntilMs: untilMs }: RunningWake): Promise<number> {
    const { runTurn, report } = this.#options;
    const controller = new AbortController();
    const pressureNow = claim.wasBegun ? (): Pressure => 'none' : pressure;
    const context: TurnContext = { ...this.#contextOf(claim, controller, untilMs), pressure: pressureNow };
    const endListening = this.#stops.listen(claim.conversation, (mark) => stopIfMeant(claim, [mark], controller));
    const renewing = setInterval(() => void context.renew().catch(() => undefined), RENEW_EVERY_MS);
    this.#running.set(jobId, controller);
    // Its wake was fetched right before the stop: what ended the others came too early for it.
    if (this.#isGraceOver) controller.abort('shutdown' satisfies AbortReason);
    stopIfMeant(claim, marksOf(claim, claim), controller);
    try {
      return await this.#finish(claim, await runTurn(context));
    } catch (error) {
      if (controller.signal.reason === 'fenced') {
        report.turnFenced({ turnId: claim.turnId });
        return 0;
      }
      // Its place is given up already, and it waits behind others.
      if (controller.signal.reason === 'yielded') return 1;
      await this.#giveBack(claim);
      if (controller.signal.reason === 'shutdown') return 1;
      throw asError(error);
    } finally {
      endListening();
      clearInterval(renewing);
      this.#running.delete(jobId);
    }
  }

  #contextOf(claim: TurnClaim, controller: AbortController, untilMs: number): Omit<TurnContext, 'pressure'> {
    const { store } = this.#options;
    const fenced = () => controller.abort('fenced' satisfies AbortReason);
    return {
      claim,
      signal: controller.signal,
      fenced,
      stopped: () => controller.abort('stopped' satisfies AbortReason),
      renew: async () => {
        const stop = await store.renew(claim);
        if (!stop) fenced();
        else stopIfMeant(claim, marksOf(claim, stop), controller);
        return stop !== undefined;
      },
      storeAnswer: async (text) => {
        const isStored = await store.storeAnswer(claim, text);
        if (!isStored) fenced();
        return isStored;
      },
      sealAnswer: (text) => store.sealAnswer(claim, text),
      isClaimHeld: () => performance.now() < untilMs,
      yieldToHeld: async () => {
        if (await store.releaseBefore(claim)) controller.abort('yielded' satisfies AbortReason);
      },
    };
  }

  /** Whoever looks next, another worker or the next start, takes it at once. */
  async #giveBack(claim: TurnClaim): Promise<void> {
    await this.#options.store.giveBack(claim, SWEEP_AFTER_MS);
  }

  async #finish(claim: TurnClaim, commit: TurnCommit): Promise<number> {
    const waiting = await this.#options.store.commit(claim, commit);
    if (waiting !== 'stale') return commit.outcome === 'held' ? waiting + (await this.#afterHeld(claim)) : waiting;
    this.#options.report.turnFenced({ turnId: claim.turnId });
    return 0;
  }

  /** What cannot be done now is made good by the sweeper: the release of a sign-in stays until no turn is open any more. */
  async #afterHeld(claim: TurnClaim): Promise<number> {
    const { onHeld, log } = this.#options;
    return onHeld(claim).catch((thrown: unknown) => {
      log.warn({ error: asError(thrown) }, 'it could not be seen whether a held message may be answered already');
      return 0;
    });
  }

  async #giveUp(claim: TurnClaim): Promise<number> {
    this.#options.report.deadLetter({ turnId: claim.turnId, crashes: claim.crashes });
    return this.#finish(claim, { ...(await this.#options.apologise(claim)), outcome: 'dead' });
  }
}

/** `processedOn` is this process's own clock right before it asked for the lock. */
function heldUntilMs({ processedOn }: Job<WakeJob>): number {
  const sinceMs = processedOn === undefined ? LOCK_MS : Date.now() - processedOn;
  return performance.now() - Math.max(0, sinceMs) + SURELY_HELD_MS;
}

function stopIfMeant(claim: TurnClaim, marks: readonly StopMark[], controller: AbortController): void {
  const meant = marks.find((mark) => isMeantBy(mark, claim.messages));
  if (!meant) return;
  claim.stop = { ...claim.stop, seq: meant.seq, ownerId: meant.ownerId };
  controller.abort('stopped' satisfies AbortReason);
}
