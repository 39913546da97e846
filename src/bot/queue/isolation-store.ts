import { setTimeout as sleep } from 'node:timers/promises';
import { inBackground } from '../../shared/in-background.ts';
import { MINUTE_MS, SECOND_MS } from '../../shared/clock.ts';
import { loadScript } from '../../shared/redis/lua-script.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import type { ConversationRef } from '../domain/conversation.ts';
import type { TurnClaim } from '../domain/turn.ts';
import {
  admissionOf,
  afterBegin,
  afterDeath,
  afterEnd,
  afterGiveUp,
  afterRetraction,
  NO_ISOLATION,
  type Admission,
  type Isolation,
  type CrashedTurn,
} from './crash-isolation.ts';
import type { WakeQueue } from './wake-queue.ts';

/** Builds before 0.2.0 keep a state of another shape in `{isolation}:state`. */
const STATE_KEY = '{isolation}:suspects';
/** The state is forgotten when no worker has died for this time. */
const STATE_LIFE_MS = 10 * MINUTE_MS;
/** When waiting suspects are woken again; another worker may be able to run them. */
const RETRY_AFTER_MS = SECOND_MS / 2;
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
  workerName: string;
  /** Crashes of a turn before it may be given up. */
  maxCrashes: number;
  /** What ran in a dead worker of which only one turn is known so far. */
  turnsOf(worker: string): Promise<CrashedTurn[]>;
}

interface IsolationRead {
  text: string;
  state: Isolation;
  nowMs: number;
}

/** The isolation state that all workers share in Redis, and the suspects that wait in this process. */
export class IsolationStore {
  readonly #options: IsolationStoreOptions;
  /** Conversations whose turn was given back because it has to wait, by id. */
  readonly #waiting = new Map<string, ConversationRef>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: IsolationStoreOptions) {
    this.#options = options;
  }

  /** Decides about a turn during which a worker died before. Where it answers `run`, the turn counts as begun. */
  async admit(claim: TurnClaim): Promise<Admission> {
    const { crashedWorker, crashes } = claim;
    const { maxCrashes, workerName } = this.#options;
    const turn = shortened(claim.turnId);
    const read = await this.#read();
    let ran: CrashedTurn[] = [];
    if (crashedWorker !== undefined) {
      const isKnown = read.state.deadWorkers.includes(crashedWorker);
      const others = isKnown ? [] : (await this.#options.turnsOf(crashedWorker)).map(shortenedRan);
      ran = [[turn, crashes], ...others];
    }
    let admission: Admission = 'run';
    await this.#update((before, nowMs) => {
      const state =
        crashedWorker === undefined ? before : afterDeath(before, { worker: crashedWorker, atMs: nowMs, ran });
      const claimed = { turn, worker: workerName, crashes, maxCrashes, nowMs };
      admission = admissionOf(state, claimed);
      if (admission === 'give-up') return afterGiveUp(state, turn, nowMs);
      return admission === 'run' ? afterBegin(state, claimed) : state;
    }, read);
    return admission;
  }

  /** Wakes the conversation again soon. If this process ends before, the sweeper does. */
  retryLater({ conversation }: TurnClaim): void {
    this.#waiting.set(conversation.id, conversation);
    this.#timer ??= setTimeout(() => inBackground(() => this.#wakeWaiting()), RETRY_AFTER_MS);
  }

  /** The turn has ended without a crash. */
  async noteEnd(claim: TurnClaim): Promise<void> {
    await this.#update((state) => afterEnd(state, shortened(claim.turnId)));
  }

  /** @param turns what ran in the worker */
  async noteDeath(worker: string, turns: readonly CrashedTurn[]): Promise<void> {
    const ran = turns.map(shortenedRan);
    await this.#update((state, nowMs) => afterDeath(state, { worker, atMs: nowMs, ran }));
  }

  /** The worker is alive: it, Redis or the network had stalled. */
  async retractDeath(worker: string): Promise<void> {
    await this.#update((state) => afterRetraction(state, worker));
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waiting.clear();
  }

  async #wakeWaiting(): Promise<void> {
    this.#timer = undefined;
    const conversations = [...this.#waiting.values()];
    this.#waiting.clear();
    await Promise.all(conversations.map((conversation) => this.#options.wakeQueue.wake(conversation)));
  }

  /** @param known the state as it was last read; it is read here otherwise */
  async #update(change: (state: Isolation, nowMs: number) => Isolation, known?: IsolationRead): Promise<void> {
    let read = known ?? (await this.#read());
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const next = change(read.state, read.nowMs);
      if (next === read.state) return;
      const text = JSON.stringify(next);
      const { isTaken, current, redisNowMs } = await this.#exchange(read.text, text);
      if (isTaken) return;
      read = { text: current, state: parsed(current), nowMs: redisNowMs };
      await sleep(Math.random() * MAX_PAUSE_MS);
    }
    throw new Error('The isolation state changed too often to be stored');
  }

  async #read(): Promise<IsolationRead> {
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

function shortenedRan([turnId, crashes]: CrashedTurn): CrashedTurn {
  return [shortened(turnId), crashes];
}

function parsed(text: string): Isolation {
  return text === '' ? NO_ISOLATION : { ...NO_ISOLATION, ...(JSON.parse(text) as Partial<Isolation>) };
}
