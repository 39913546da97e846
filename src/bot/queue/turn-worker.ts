import type { Job } from 'bullmq';
import { asError } from '../../shared/coded-error.ts';
import { SECOND_MS, type NowMs } from '../../shared/clock.ts';
import { inBackground } from '../../shared/in-background.ts';
import { settledWithin } from '../../shared/settled-within.ts';
import type { Log } from '../../shared/log.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { inStep, isTracing, withoutSpan, inSpan, recordSpan } from '../../shared/tracing/tracing.ts';
import { PlatformError } from '../platforms/platform-error.ts';
import type { ConversationRef } from '../domain/conversation.ts';
import { closeWorkers } from './close-workers.ts';
import { EntryError, MissingKeyError } from './inbox-entry.ts';
import { MissingKeys } from './wait-for-key.ts';
import type { QueueReport } from './queue-report.ts';
import { QueuePressure, type PressureLimits, type TakenWake } from './queue-pressure.ts';
import { StopListener } from './stop-listener.ts';
import { stopAppliesTo, stopMarksOf } from './stop-mark.ts';
import type { StopMark, TurnCommit, AbortReason, TurnClaim, TurnControls } from '../domain/turn.ts';
import { SUSPECT_CRASHES, type Quarantine, type TurnHold } from './quarantine.ts';
import { SWEEP_AFTER_MS } from './sweeper.ts';
import { LOCK_MS, TurnLease, type WakeLock } from './turn-lease.ts';
import type { Workload } from './process-list.ts';
import { hasFollowUp } from './turn-commit.ts';
import type { TurnStore } from './turn-store.ts';
import { shardNames, WAKE_VERSION, type WakeJob, type WakeQueue } from './wake-queue.ts';
import { WakeWorker } from './wake-worker.ts';

/** Runs one turn up to its commit. Provided by the composition root. Errors inside a turn are outcomes, not exceptions. */
export type RunTurn = (context: TurnControls) => Promise<TurnCommit>;
/** Apologises for a turn that is given up. */
export type ApologiseFor = (claim: TurnClaim) => Promise<TurnCommit>;

export interface WorkerLimits {
  /** 0 in a process that runs only the turns that it is given (`runNow`). */
  shards: number;
  /** Concurrent turns per shard in this process. */
  concurrency: number;
  /** Crashes of a turn before it may be given up. */
  maxCrashes: number;
  pressure: PressureLimits;
}

/** Steps of a turn, provided by the composition root. */
export interface TurnSteps {
  runTurn: RunTurn;
  apologise: ApologiseFor;
  /** Called once a turn is held. @returns how many messages it released, including the turn's own */
  onHeld(claim: TurnClaim): Promise<number>;
  /** Called after a commit with follow-up messages. Must not throw or wait. */
  deliverFollowUps?(partition: number): void;
}

export interface TurnWorkerOptions {
  redis: RedisClient;
  store: TurnStore;
  /** Where suspected turns run; absent in a process that is one of its own. */
  quarantine?: Quarantine;
  wakeQueue: WakeQueue;
  limits: WorkerLimits;
  steps: TurnSteps;
  nowMs: NowMs;
  log: Log;
  report: QueueReport;
}

const STALLED_SCAN_MS = 2.5 * SECOND_MS;
/** Disables BullMQ's own limit: crashes are counted per turn, not per job. */
const UNLIMITED_STALLS = 1_000_000;

/** Time for the last writes of turns that a stop has aborted. */
const LAST_WRITES_MS = 3 * SECOND_MS;

/** A wake taken by this process, and the turn that runs for it. */
interface TakenTurn {
  lease: TurnLease;
  /** Aborted with an `AbortReason` as its reason. */
  controller: AbortController;
  wake: TakenWake;
}

/** Takes wakes from the queue and runs one turn for each, fenced by the conversation's epoch. */
export class TurnWorker {
  readonly #options: TurnWorkerOptions;
  /** Indexed by shard. */
  readonly #workers: WakeWorker[];
  /** Workers of shards that are no longer used. */
  readonly #leaving = new Set<WakeWorker>();
  readonly #stops: StopListener;
  /** Keyed by conversation id, because jobs of two shards may have the same id. */
  readonly #running = new Map<string, TakenTurn>();
  /** Runs without a wake of the queue. */
  readonly #direct = new Set<Promise<void>>();
  readonly #pressure: QueuePressure;
  /** Conversations that this process cannot read because a key is missing. */
  readonly missingKeys: MissingKeys;
  #isClosing = false;
  #isGraceOver = false;

  constructor(options: TurnWorkerOptions) {
    this.#options = options;
    this.#stops = new StopListener(options.redis);
    options.redis.on('close', this.#doubtClaims);
    this.missingKeys = new MissingKeys(options.report);
    const { limits, wakeQueue, nowMs, log, report } = options;
    this.#pressure = new QueuePressure({
      ...{ limits: limits.pressure, concurrency: limits.concurrency },
      ...{ readWaiting: () => wakeQueue.waiting(), nowMs, log, report },
    });
    this.#workers = Array.from({ length: limits.shards }, (_, shard) => this.#startWorker(shard));
  }

  readonly #doubtClaims = () => {
    for (const { lease } of this.#running.values()) lease.doubt();
  };

  /** Number of turns that run in this process now. */
  get runningTurns(): number {
    return this.#running.size;
  }

  get workload(): Workload {
    const maxTurns = this.#workers.length * this.#options.limits.concurrency;
    return { runningTurns: this.runningTurns, maxTurns, isDraining: this.#isClosing };
  }

  /** Whether all slots of a shard in this process are in use. */
  get isFull(): boolean {
    return this.#pressure.isFull;
  }

  /** Whether the queue is being read. */
  isReady(): boolean {
    return !this.#isClosing && this.#workers.every((worker) => worker.isRunning());
  }

  /**
   * Orderly stop (SECURITY.md orderly-stop): takes no more wakes, lets turns run for `graceMs`, then gives the rest back for
   * another worker or the next start.
   */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    const timer = setTimeout(() => {
      this.#isGraceOver = true;
      for (const { controller } of this.#running.values()) controller.abort('shutdown' satisfies AbortReason);
    }, graceMs);
    const { redis, quarantine } = this.#options;
    await Promise.all([
      closeWorkers([...this.#workers, ...this.#leaving], { redis, hasJobs: this.#running.size > 0, jobsMs: graceMs }),
      settledWithin([...this.#direct], graceMs + LAST_WRITES_MS),
      quarantine?.close(graceMs / SECOND_MS),
    ]);
    clearTimeout(timer);
    this.#stops.close();
    redis.off('close', this.#doubtClaims);
  }

  /**
   * Sets how many shards are read, but never fewer than this worker's own number, because other processes may use more. A
   * shard that is no longer read must be empty.
   */
  readShards(count: number): void {
    if (this.#isClosing) return;
    const wanted = Math.max(count, this.#options.limits.shards);
    while (this.#workers.length < wanted) this.#workers.push(this.#startWorker(this.#workers.length));
    for (const worker of this.#workers.splice(wanted)) {
      this.#leaving.add(worker);
      inBackground(() => worker.close().finally(() => this.#leaving.delete(worker)));
    }
  }

  #startWorker(shard: number): WakeWorker {
    const { redis, store, limits, log, report } = this.#options;
    const { name, prefix } = shardNames(shard);
    const run = (job: Job<WakeJob>) => this.#processWake({ job, token: job.token ?? '' }, shard);
    const worker = new WakeWorker(name, run, {
      connection: redis,
      prefix,
      // So that its wakes can be given back after its death (reclaim.ts).
      name: store.workerName,
      concurrency: limits.concurrency,
      lockDuration: LOCK_MS,
      skipLockRenewal: true,
      stalledInterval: STALLED_SCAN_MS,
      runRetryDelay: SECOND_MS,
      maxStalledCount: UNLIMITED_STALLS,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
      skipVersionCheck: true,
    });
    worker.on('error', (error) => log.debug({ error }, 'the wake worker reported an error'));
    worker.on('stalled', () => report.queueStalled());
    worker.on('failed', (_job, error) => report.runFailed({ error }));
    return worker;
  }

  /** Runs a conversation's next turn without a wake of the queue. */
  async runNow(conversation: ConversationRef): Promise<void> {
    const run = this.#run(conversation, undefined, 0);
    this.#direct.add(run);
    await run.finally(() => this.#direct.delete(run));
  }

  async #processWake(lock: WakeLock, shard: number): Promise<void> {
    const { conversation, version } = lock.job.data;
    // A wake is only a hint: its conversation is pending, and the sweeper wakes it again in a version that this worker
    // knows.
    if ((version as number) !== WAKE_VERSION) return this.#options.report.newerVersionMet({ what: 'wake' });
    return this.#run(conversation, lock, shard);
  }

  async #run(conversation: ConversationRef, lock: WakeLock | undefined, shard: number): Promise<void> {
    const { report, store, wakeQueue } = this.#options;
    // This process may already run the turn, if its lock on the wake had expired. That run wakes the messages behind it.
    if (await this.#running.get(conversation.id)?.lease.renew()) return;
    const controller = new AbortController();
    const lease = new TurnLease({
      lock,
      store,
      report,
      onFenced: () => controller.abort('fenced' satisfies AbortReason),
      onRenewed: (claim, renewed) => {
        if (renewed.wasAmended) controller.abort('amended' satisfies AbortReason);
        abortIfStopped(claim, stopMarksOf(claim, renewed), controller);
      },
    });
    const wake = this.#pressure.take(shard);
    try {
      const waiting = await this.#runNextTurn(conversation, { lease, controller, wake });
      // One turn per wake is fair: other waiting conversations come before this conversation's next turn.
      if (waiting > 0) await wakeQueue.wake(conversation);
    } finally {
      lease.endWake();
      wake.leave();
    }
  }

  /** @returns how many messages wait behind the turn */
  async #runNextTurn(conversation: ConversationRef, taken: TakenTurn): Promise<number> {
    const { report } = this.#options;
    const claim = await taken.lease.begin(conversation).catch((error: unknown) => {
      if (error instanceof MissingKeyError) this.missingKeys.note(conversation.id, error.keyId);
      else if (error instanceof EntryError) report.newerVersionMet({ what: 'message' });
      else throw error;
    });
    if (!claim) return 0;
    // Requested together with the claim, so that it has usually arrived.
    await taken.wake.reading;
    this.missingKeys.found(conversation.id);
    const { turnId, unreadable, isAnswerLost } = claim;
    if (unreadable.length > 0) report.messagesBroken({ turnId, count: unreadable.length });
    if (isAnswerLost) report.storedAnswerLost({ turnId });
    if (claim.crashes === 0) return this.#runClaimed(claim, taken);
    report.turnResumed({ turnId: claim.turnId, crashes: claim.crashes });
    return this.#runSuspect(claim, taken);
  }

  /** A worker died while it ran this turn (SECURITY.md poison-turns). In quarantine it harms no other turns. */
  async #runSuspect(claim: TurnClaim, taken: TakenTurn): Promise<number> {
    const { quarantine, limits, report } = this.#options;
    const { turnId, crashes, conversation } = claim;
    if (!quarantine || crashes < SUSPECT_CRASHES) return this.#runClaimed(claim, taken);
    if (quarantine.isGuilty(turnId) && crashes >= limits.maxCrashes) {
      const waiting = await this.#inSpan(claim, taken, () => this.#giveUp(claim));
      // If the apology fails, the turn comes back and is still guilty.
      quarantine.forget(turnId);
      return waiting;
    }
    if (!quarantine.isAvailable && !this.#isClosing) return this.#runClaimed(claim, taken);
    if (this.#isClosing) {
      taken.lease.end();
      // Another worker, or the next start, has a quarantine for it.
      await this.#giveBack(claim);
      return 1;
    }
    report.turnQuarantined({ turnId, crashes });
    quarantine.take({ conversation, turnId, hold: this.#hold(claim, taken.lease) });
    return 0;
  }

  /**
   * Takes the turn of an ended quarantine process, to hold it for the next one. @returns undefined if the turn is not open any
   * more, or another worker has it
   */
  async takeBack({ conversation, turnId }: Pick<TurnClaim, 'conversation' | 'turnId'>): Promise<TurnHold | undefined> {
    const { store, report, wakeQueue } = this.#options;
    const ignored = () => undefined;
    const lease = new TurnLease({ ...{ lock: undefined, store, report }, onFenced: ignored, onRenewed: ignored });
    try {
      const claim = await lease.begin(conversation);
      if (claim?.turnId === turnId) return this.#hold(claim, lease);
      lease.end();
      if (!claim) return undefined;
      await this.#giveBack(claim);
      await wakeQueue.wake(conversation);
    } catch {
      // Its conversation is pending: the sweeper wakes it.
      lease.end();
    }
    return undefined;
  }

  #hold(claim: TurnClaim, lease: TurnLease): TurnHold {
    lease.outliveWake();
    return {
      release: () => {
        lease.end();
        return this.#options.store.isolate(claim);
      },
    };
  }

  async #runClaimed(claim: TurnClaim, taken: TakenTurn): Promise<number> {
    const { runTurn } = this.#options.steps;
    const { controller } = taken;
    const context = this.#contextOf(claim, taken);
    const endListening = this.#stops.listen(claim.conversation, (news) => {
      if (news === 'amended') controller.abort('amended' satisfies AbortReason);
      else abortIfStopped(claim, [news], controller);
    });
    this.#running.set(claim.conversation.id, taken);
    // The wake was fetched right before the stop, after the other turns were aborted.
    if (this.#isGraceOver) controller.abort('shutdown' satisfies AbortReason);
    abortIfStopped(claim, stopMarksOf(claim, claim), controller);
    try {
      return await this.#inSpan(claim, taken, async () => this.#finish(claim, await runTurn(context)));
    } catch (error) {
      if (controller.signal.reason === 'fenced') {
        this.#onFenced(claim);
        return 0;
      }
      taken.lease.end();
      // The turn has already given up its place and waits behind others.
      if (controller.signal.reason === 'yielded') return 1;
      const isKept = error instanceof PlatformError && error.code === 'unauthorised';
      // A turn that only the operator can unblock waits for the sweeper, so that other turns get its slot meanwhile.
      await this.#giveBack(claim, isKept ? 0 : SWEEP_AFTER_MS);
      // A changed question is answered at once.
      if (controller.signal.reason === 'shutdown' || controller.signal.reason === 'amended') return 1;
      if (isKept) return 0;
      throw asError(error);
    } finally {
      endListening();
      const { id } = claim.conversation;
      if (this.#running.get(id) === taken) this.#running.delete(id);
    }
  }

  /** Another worker took the turn because this one was silent for too long. */
  #onFenced(claim: TurnClaim): void {
    const { store, report } = this.#options;
    report.turnFenced({ turnId: claim.turnId });
    inBackground(() => store.retractCrash(claim));
  }

  #contextOf(claim: TurnClaim, { controller, lease, wake }: TakenTurn): TurnControls {
    const { store } = this.#options;
    const fenced = () => controller.abort('fenced' satisfies AbortReason);
    return {
      claim,
      signal: controller.signal,
      pressure: () => (claim.wasBegun ? 'none' : wake.pressure(claim.dueForMs)),
      fenced,
      stopped: () => controller.abort('stopped' satisfies AbortReason),
      storeAnswer: async (text) => {
        const isStored = await store.storeAnswer(claim, text);
        if (!isStored) fenced();
        return isStored;
      },
      sealAnswer: (text) => store.sealAnswer(claim, text),
      isClaimHeld: () => lease.isCertainlyHeld(),
      confirmClaim: () => lease.confirm(controller.signal),
      waitIdle: async (wait) => {
        // While Redis is unavailable, a crash is charged as before.
        const mark = async (marked: Promise<boolean>) => {
          if (!(await marked.catch(() => true))) fenced();
        };
        await mark(store.markWaiting(claim));
        await wait();
        await mark(store.markRunning(claim));
      },
      yieldToHeld: async () => {
        if (await store.releaseBefore(claim)) controller.abort('yielded' satisfies AbortReason);
      },
    };
  }

  /** Gives the turn back so that the next worker, or the next start, takes it at once. */
  async #giveBack(claim: TurnClaim, touchedAgoMs = SWEEP_AFTER_MS): Promise<void> {
    await this.#options.store.giveBack(claim, touchedAgoMs);
  }

  async #finish(claim: TurnClaim, commit: TurnCommit): Promise<number> {
    const { store, steps } = this.#options;
    const waiting = await inStep('commit', () => store.commit(claim, commit));
    if (waiting === 'amended') {
      await this.#giveBack(claim);
      return 1;
    }
    if (waiting !== 'stale' && hasFollowUp(commit))
      withoutSpan(() => steps.deliverFollowUps?.(claim.conversation.partition));
    if (waiting !== 'stale') return commit.outcome === 'held' ? waiting + (await this.#afterHeld(claim)) : waiting;
    this.#onFenced(claim);
    return 0;
  }

  /** The sweeper repeats a failed release: the release of a sign-in is kept until no turn is open. */
  async #afterHeld(claim: TurnClaim): Promise<number> {
    const { steps, log } = this.#options;
    return steps.onHeld(claim).catch((thrown: unknown) => {
      log.warn(
        { error: asError(thrown), trace: claim.turnId },
        'it could not be read whether a held message may be answered',
      );
      return 0;
    });
  }

  #inSpan(claim: TurnClaim, { lease }: TakenTurn, run: () => Promise<number>): Promise<number> {
    const { nowMs } = this.#options;
    return isTracing() ? inTurnSpan(claim, { claimMs: lease.claimMs, nowMs }, run) : run();
  }

  async #giveUp(claim: TurnClaim): Promise<number> {
    this.#options.report.deadLetter({ turnId: claim.turnId, crashes: claim.crashes });
    return this.#finish(claim, { ...(await this.#options.steps.apologise(claim)), outcome: 'dead' });
  }
}

function abortIfStopped(claim: TurnClaim, marks: readonly StopMark[], controller: AbortController): void {
  const meant = marks.find((mark) => stopAppliesTo(mark, claim.messages));
  if (!meant) return;
  claim.stop = { ...claim.stop, seq: meant.seq, ownerId: meant.ownerId };
  controller.abort('stopped' satisfies AbortReason);
}

/**
 * Runs a claimed turn in its span, which continues the trace of the newest message. The wait in the queue and the claim are
 * recorded beside it: their trace is known only now. Merged messages are linked.
 */
function inTurnSpan<Result>(
  claim: TurnClaim,
  { claimMs, nowMs }: { claimMs: number; nowMs: NowMs },
  run: () => Promise<Result>,
): Promise<Result> {
  const parents = claim.messages.flatMap(({ message }) => message.traceparent ?? []);
  const parent = claim.messages.at(-1)?.message.traceparent;
  const claimedAtMs = nowMs();
  const sentAtMs = claimedAtMs - claimMs;
  const arrivedAtMs = Math.min(sentAtMs, claimedAtMs - claim.newestAgeMs);
  // Without a parent the trace begins with the turn.
  if (parent !== undefined) {
    recordSpan('wait in queue', { kind: 'consumer', parent, startedAtMs: arrivedAtMs, endedAtMs: sentAtMs });
    recordSpan('claim', { parent, startedAtMs: sentAtMs, endedAtMs: claimedAtMs });
  }
  const attributes = {
    'parley.delivery': claim.turnId,
    'parley.messages': claim.messages.length,
    'parley.crashes': claim.crashes,
  };
  const links = parents.filter((one) => one !== parent);
  return inSpan('turn', { kind: 'consumer', parent, links, attributes }, run);
}
