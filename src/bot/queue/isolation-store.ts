import { setTimeout as sleep } from 'node:timers/promises';
import { inBackground } from '../../shared/in-background.ts';
import { MINUTE_MS, SECOND_MS } from '../../shared/clock.ts';
import { loadScript } from '../../shared/redis/lua-script.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import type { TurnClaim } from '../domain/turn.ts';
import {
  admissionOf,
  afterBegin,
  afterDeath,
  afterEnd,
  afterRetraction,
  afterTime,
  NO_ISOLATION,
  type Admission,
  type Isolation,
} from './crash-isolation.ts';
import type { WakeQueue } from './wake-queue.ts';

const STATE_KEY = '{isolation}:state';
/** The state is forgotten when no worker has died and no suspect has begun or ended for this time. */
const STATE_LIFE_MS = 10 * MINUTE_MS;
/** How often suspects that wait in this process are checked. No timer runs while none waits. */
const RECHECK_EVERY_MS = SECOND_MS / 4;
/** Workers write at the same time only right after a death. */
const MAX_TRIES = 50;
const MAX_PAUSE_MS = 20;
/** Turn ids are shortened in the shared state. */
const ID_LENGTH = 16;

const exchangeScript = loadScript(import.meta.url, './scripts/exchange-isolation.lua', {
  keys: ['state'],
  args: ['expected', 'next', 'lifeMs'],
  answer: { isTaken: 'flag', current: 'text', redisNowMs: 'number' },
});

export interface IsolationStoreOptions {
  redis: RedisClient;
  wakeQueue: Pick<WakeQueue, 'wake'>;
  /** Crashes of a turn before it may be given up. */
  maxCrashes: number;
  /** What ran in a dead worker of which only one turn is known so far. Turn ids. */
  turnsOf(worker: string): Promise<string[]>;
}

/** The isolation state that all workers share in Redis, and the suspects that wait in this process. */
export class IsolationStore {
  readonly #options: IsolationStoreOptions;
  /** Claims that were given back because their turn has to wait, by conversation. */
  readonly #waiting = new Map<string, TurnClaim>();
  #timer: NodeJS.Timeout | undefined;
  #isRechecking = false;

  constructor(options: IsolationStoreOptions) {
    this.#options = options;
  }

  /** Decides about a turn during which a worker died before. Where it answers `run`, the turn counts as begun. */
  async admit(claim: TurnClaim): Promise<Admission> {
    const { crashedWorker } = claim;
    const turn = shortened(claim.turnId);
    let ran: string[] = [];
    if (crashedWorker !== undefined) {
      const { state } = await this.#read();
      const isKnown = state.deaths.some(({ worker }) => worker === crashedWorker);
      ran = [turn, ...(isKnown ? [] : (await this.#options.turnsOf(crashedWorker)).map(shortened))];
    }
    let admission: Admission = 'run';
    await this.#update((before, nowMs) => {
      const told =
        crashedWorker === undefined
          ? before
          : afterDeath(before, { worker: crashedWorker, atMs: nowMs, toldAtMs: nowMs, ran });
      const state = afterTime(told, nowMs);
      admission = this.#admissionOf(state, claim, nowMs);
      return admission === 'run' ? afterBegin(state, turn, nowMs) : state;
    });
    return admission;
  }

  /** Wakes the conversation once its turn is admitted. If this process ends before, the sweeper does. */
  wakeWhenAdmitted(claim: TurnClaim): void {
    this.#waiting.set(claim.conversation.id, claim);
    this.#timer ??= setInterval(() => inBackground(() => this.#recheck()), RECHECK_EVERY_MS);
  }

  /** The turn has ended without a crash. */
  async noteEnd(claim: TurnClaim): Promise<void> {
    await this.#update((state) => afterEnd(state, shortened(claim.turnId)));
  }

  /** @param turnIds what ran in the worker */
  async noteDeath(worker: string, turnIds: readonly string[]): Promise<void> {
    const ran = turnIds.map(shortened);
    await this.#update((state, nowMs) => afterDeath(state, { worker, atMs: nowMs, toldAtMs: nowMs, ran }));
  }

  /** The worker is alive: it, Redis or the network had stalled. */
  async retractDeath(worker: string): Promise<void> {
    await this.#update((state) => afterRetraction(state, worker));
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#waiting.clear();
  }

  async #recheck(): Promise<void> {
    if (this.#isRechecking) return;
    this.#isRechecking = true;
    try {
      const { state, nowMs } = await this.#update(afterTime);
      for (const [id, claim] of this.#waiting) {
        if (this.#admissionOf(state, claim, nowMs) === 'wait') continue;
        this.#waiting.delete(id);
        await this.#options.wakeQueue.wake(claim.conversation);
      }
      if (this.#waiting.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    } finally {
      this.#isRechecking = false;
    }
  }

  #admissionOf(state: Isolation, { turnId, crashes }: TurnClaim, nowMs: number): Admission {
    const { maxCrashes } = this.#options;
    return admissionOf(state, { turn: shortened(turnId), crashes, maxCrashes, nowMs });
  }

  async #update(change: (state: Isolation, nowMs: number) => Isolation): Promise<{ state: Isolation; nowMs: number }> {
    let read = await this.#read();
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const next = change(read.state, read.nowMs);
      if (next === read.state) return read;
      const text = next.groups.length === 0 && next.deaths.length === 0 ? '' : JSON.stringify(next);
      const { isTaken, current, redisNowMs } = await this.#exchange(read.text, text);
      if (isTaken) return { state: next, nowMs: redisNowMs };
      read = { text: current, state: parsed(current), nowMs: redisNowMs };
      await sleep(Math.random() * MAX_PAUSE_MS);
    }
    throw new Error('The isolation state changes too often to be written');
  }

  async #read(): Promise<{ text: string; state: Isolation; nowMs: number }> {
    const { current, redisNowMs } = await this.#exchange('?', '');
    return { text: current, state: parsed(current), nowMs: redisNowMs };
  }

  #exchange(expected: string, next: string) {
    return exchangeScript.run(this.#options.redis, { state: STATE_KEY }, { expected, next, lifeMs: STATE_LIFE_MS });
  }
}

function shortened(turnId: string): string {
  return turnId.slice(0, ID_LENGTH);
}

function parsed(text: string): Isolation {
  return text === '' ? NO_ISOLATION : { ...NO_ISOLATION, ...(JSON.parse(text) as Partial<Isolation>) };
}
