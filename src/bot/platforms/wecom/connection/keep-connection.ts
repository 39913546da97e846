import { setTimeout as pause } from 'node:timers/promises';
import { asError } from '../../../../shared/coded-error.ts';
import { MINUTE_MS, monotonicMs, SECOND_MS } from '../../../../shared/clock.ts';
import { inBackground } from '../../../../shared/in-background.ts';
import { pauseUntil } from '../../../../shared/pause-until.ts';
import type { KeyRing } from '../../../../shared/crypto/key-ring.ts';
import type { RedisClient } from '../../../../shared/redis/redis.ts';
import { settledWithin } from '../../../../shared/settled-within.ts';
import { subscribe } from '../../../../shared/redis/subscriber.ts';
import { abortable } from '../../../../shared/abortable.ts';
import { asDeliveryId } from '../../../domain/ids.ts';
import { REPLY_CHANNEL, type PulledReply } from '../../../domain/reply.ts';
import type { ConnectionHandlers, PlatformConnection, Welcome } from '../../platform.ts';
import { reconnectPauseMs } from '../../web-socket.ts';
import { EMPTY_ANSWER } from '../callback-answers.ts';
import type { ReadOptions } from '../read-delivery.ts';
import { welcomeReply } from '../welcome.ts';
import { BotSocket, SubscriptionError, REPLACED, type BotSocketTiming } from './bot-socket.ts';
import { ChatRateLimiter } from './chat-pace.ts';
import { Intake } from './intake.ts';
import { Lease, MAX_REST_MS, type HeldLease } from './lease.ts';
import { ReplyPlaces, type ReplyPlace } from './reply-places.ts';
import { ReplyPump, type ReplyPumpOptions } from './reply-pump.ts';

/** The AI bot's connection: its address and credentials. */
export interface BotAccount {
  url: string;
  botId: string;
  secret: string;
}

/** The bot's own connection, which takes the callback's place. */
export interface WecomConnection {
  account: BotAccount;
  redis: RedisClient;
  keyRing: KeyRing;
  /** Overrides lengths of time, in tests. */
  timing?: Partial<BotSocketTiming>;
}

export interface KeepConnectionOptions
  extends Omit<WecomConnection, 'timing'>, Pick<ReplyPumpOptions, 'cardUrl' | 'log' | 'writes'> {
  timing: BotSocketTiming;
  use: ConnectionHandlers;
  reading: Omit<ReadOptions, 'laterReplyHandle'>;
}

/** Minimum life of a connection that counts as a recovery. */
const PROVEN_AFTER_MS = 30 * SECOND_MS;
/** Failures in a row after which another process may try. */
const MAX_FAILURES = 3;
const MAX_PAUSE_MS = 10 * SECOND_MS;
/** Time without a replacement that offsets one earlier replacement. */
const UNDISPUTED_MS = MINUTE_MS;
/** Number of replacements in a row from which the pause has its maximum length. */
const MAX_LEVEL = 6;
/** Time limit of an orderly hand-over; until the next holder connects, messages arrive here. */
const HANDED_OVER_WITHIN_MS = 3 * SECOND_MS;

/** How a connection ended: as its `BotSocket` reports, or because another process has the lease. */
type Ended = 'lost' | 'replaced' | 'broken' | 'refused' | 'stopped';

interface Held {
  lease: HeldLease;
  /** Number of replacements by another program in a row. */
  level: number;
  /** Times of the last opening and the last loss, on the monotonic clock; undefined before the first. */
  openedAtMs?: number;
  lostAtMs?: number;
}

/**
 * Keeps the bot's only connection in one of all processes. The others stand by, and one of them connects as soon as the
 * lease is free (RELIABILITY.md connection-lost). Never retries a refused secret.
 */
export function keepConnection(options: KeepConnectionOptions): PlatformConnection {
  const keeper = new ConnectionKeeper(options);
  return { close: () => keeper.close() };
}

class ConnectionKeeper {
  readonly #options: KeepConnectionOptions;
  readonly #places: ReplyPlaces;
  readonly #lease: Lease;
  readonly #intake: Intake;
  readonly #pace = new ChatRateLimiter(monotonicMs);
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;
  #pump: ReplyPump | undefined;
  /** Failed connections in a row, across all times that this process held the lease. */
  #failures = 0;
  /** The last standby report while another process holds the lease; undefined while this one does. */
  #isStandbyReplaced: boolean | undefined;

  constructor(options: KeepConnectionOptions) {
    this.#options = options;
    const { redis, keyRing, account, use, reading } = options;
    this.#places = new ReplyPlaces(redis, keyRing, account.botId);
    this.#lease = new Lease(redis, this.#places.leaseKey);
    this.#intake = new Intake({
      ...{ use, places: this.#places, reading },
      onStored: (id, place, isAgain) => this.#stored(id, place, isAgain),
    });
    this.#ended = this.#run().catch((thrown: unknown) => {
      if (!this.#hasStopped()) use.onChange({ state: 'refused', reason: asError(thrown).message });
    });
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await settledWithin([this.#ended], HANDED_OVER_WITHIN_MS + SECOND_MS);
    await this.#intake.close();
  }

  #hasStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!this.#hasStopped()) {
      const lease = await this.#lease.acquire(signal, (isReplaced) => this.#standBy(isReplaced));
      this.#isStandbyReplaced = undefined;
      try {
        const ended = await this.#holdConnection(lease);
        if (ended === 'refused' || ended === 'stopped') return;
      } finally {
        await lease.release().catch(() => 0);
      }
    }
  }

  #standBy(isReplaced: boolean): void {
    if (this.#isStandbyReplaced === isReplaced) return;
    this.#isStandbyReplaced = isReplaced;
    this.#options.use.onChange({ state: 'standby', isReplaced });
  }

  /** Connects and reconnects while this process holds the lease. */
  async #holdConnection(lease: HeldLease): Promise<Ended> {
    const { signal } = this.#stop;
    const { level, restMs } = lease.rivalry;
    const held: Held = { lease, level };
    // A rest after a replacement applies to all processes.
    if (restMs > 0) {
      this.#options.use.onChange({ state: 'replaced', level, restMs });
      await pauseUntil(restMs, lease.lost, signal);
    }
    for (;;) {
      if (lease.isLost()) return 'lost';
      const beganMs = monotonicMs();
      const ended = await this.#connectOnce(held);
      if (ended === 'lost' || ended === 'refused' || ended === 'stopped') return ended;
      if (ended === 'replaced') {
        this.#failures = 0;
        await this.#backOff(held);
        continue;
      }
      const failures = monotonicMs() - beganMs < PROVEN_AFTER_MS ? this.#failures + 1 : 1;
      this.#failures = failures;
      if (failures >= MAX_FAILURES) {
        await lease.release().catch(() => 0);
        await pause(reconnectPauseMs(failures, MAX_PAUSE_MS), undefined, { signal });
        return 'broken';
      }
      await pauseUntil(reconnectPauseMs(failures - 1, MAX_PAUSE_MS), lease.lost, signal);
    }
  }

  /**
   * Handles a replacement by another program that connected as this bot. A single replacement costs seconds; repeated ones
   * lead to longer and longer pauses, so that two programs never replace each other endlessly
   * (RELIABILITY.md replaced-connection). The pause is stored with the lease: a process that takes the lease over waits for
   * the rest of it.
   */
  async #backOff(held: Held): Promise<void> {
    const { lease } = held;
    const undisputedMs = monotonicMs() - (held.openedAtMs ?? monotonicMs());
    const level = levelAfter(held.level, undisputedMs);
    const restMs = restMsAt(level);
    // WeCom often reports a hand-over within this deployment before Redis does, so Redis is asked first.
    await lease.markClosed({ level, restMs });
    if (lease.isLost()) return this.#options.use.onChange({ state: 'closed', reason: 'lost' });
    held.level = level;
    this.#options.use.onChange({ state: 'replaced', level, restMs });
    await pauseUntil(restMs, lease.lost, this.#stop.signal);
  }

  async #connectOnce(held: Held): Promise<Ended> {
    const { account, timing, use } = this.#options;
    const { lease } = held;
    let socket: BotSocket;
    try {
      const { url, botId, secret } = account;
      socket = await BotSocket.open({
        ...{ url, botId, secret, timing },
        onCallback: (callback, from) =>
          this.#intake.receive(callback, (welcome) => this.#welcome(from, callback.reqId, welcome)),
      });
    } catch (thrown) {
      const isRefused = thrown instanceof SubscriptionError && thrown.isRefused;
      const reason = asError(thrown).message;
      use.onChange(isRefused ? { state: 'refused', reason } : { state: 'closed', reason });
      return isRefused ? 'refused' : 'broken';
    }
    held.openedAtMs = monotonicMs();
    const ownGapMs = held.lostAtMs === undefined ? 0 : held.openedAtMs - held.lostAtMs;
    const pump = this.#startPump(socket, lease);
    this.#pump = pump.pump;
    use.onChange({ state: 'open', gapMs: await lease.markOpen().catch(() => ownGapMs) });
    try {
      const ended = await this.#untilEnded(socket, lease);
      held.lostAtMs = monotonicMs();
      if (ended === 'broken') await lease.markClosed();
      return ended;
    } finally {
      this.#pump = undefined;
      pump.close();
      await socket.close();
    }
  }

  #startPump(socket: BotSocket, lease: HeldLease): { pump: ReplyPump; close(): void } {
    const { redis, log } = this.#options;
    const pump = new ReplyPump({
      ...{ socket, lease, places: this.#places, pace: this.#pace, log },
      pollReply: (id, place) => this.#pollReply(id, place),
      cardUrl: this.#options.cardUrl,
      ...{ writes: this.#options.writes, passWithinMs: this.#options.timing.refusalsPassWithinMs },
      refusedNotice: this.#options.use.refusedNotice,
      onUndeliverable: (answer) => this.#options.use.onUndeliverable(answer),
    });
    const unsubscribe = subscribe(redis, {
      channel: REPLY_CHANNEL,
      onMessage: (id) => pump.onReplyChanged(id),
      onReady: () => pump.recheckAll(),
    });
    return {
      pump,
      close() {
        unsubscribe();
        pump.close();
      },
    };
  }

  async #untilEnded(socket: BotSocket, lease: HeldLease): Promise<Ended> {
    const { use } = this.#options;
    const { signal } = this.#stop;
    const lost = lease.lost.then(() => 'lost' as const);
    const left = socket.leaving.then((reason) => (reason === REPLACED ? ('replaced' as const) : ('broken' as const)));
    const ended = await abortable(Promise.race([lost, left]), signal).catch(() => 'stopped' as const);
    if (ended === 'stopped') await this.#handOver(socket, lease);
    if (ended !== 'replaced')
      use.onChange({ state: 'closed', reason: ended === 'broken' ? await socket.leaving : ended });
    return ended;
  }

  /** Lets a standby process connect; until then messages arrive here. */
  async #handOver(socket: BotSocket, lease: HeldLease): Promise<void> {
    const waiting = await lease.release().catch(() => 0);
    if (waiting > 0) await settledWithin([socket.leaving], HANDED_OVER_WITHIN_MS);
  }

  #stored(id: string, place: ReplyPlace, isAgain: boolean): void {
    const pump = this.#pump;
    if (!pump) inBackground(() => this.#places.notify(id));
    else if (isAgain) pump.onReplyChanged(id, place.reqId);
    else pump.begin(id, place);
  }

  #welcome(socket: BotSocket, reqId: string, welcome: Welcome): void {
    const reply = welcomeReply(welcome, this.#options.cardUrl);
    inBackground(() => socket.send('aibot_respond_welcome_msg', reqId, reply));
  }

  /** Reads a reply as WeCom's own poll over the webhook would. */
  async #pollReply(id: string, { chat, userId }: ReplyPlace): Promise<PulledReply | undefined> {
    let seen: PulledReply | undefined;
    const isRead = await this.#options.use.take(() => ({
      ...{ kind: 'poll' as const, replyId: asDeliveryId(id), chat, sender: { userId } },
      answer(reply: PulledReply) {
        seen = reply;
        return EMPTY_ANSWER;
      },
    }));
    return isRead ? seen : undefined;
  }
}

/** @param undisputedMs time between opening the connection and its replacement */
export function levelAfter(level: number, undisputedMs: number): number {
  return Math.min(MAX_LEVEL, Math.max(0, level - Math.floor(undisputedMs / UNDISPUTED_MS)) + 1);
}

/** Rest after a replacement: 1 to 2 s at first, doubled each time up to a minute, with jitter. Milliseconds. */
export function restMsAt(level: number): number {
  return Math.round(reconnectPauseMs(level + 1, MAX_REST_MS));
}
