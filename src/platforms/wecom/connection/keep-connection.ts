import { setTimeout as pause } from 'node:timers/promises';
import { asError } from '../../../base/coded-error.ts';
import { MINUTE_MS, monotonicMs, SECOND_MS } from '../../../base/clock.ts';
import { inBackground } from '../../../base/in-background.ts';
import { pauseUntil } from '../../../base/pause-until.ts';
import type { KeyRing } from '../../../base/key-ring.ts';
import type { Log } from '../../../base/log.ts';
import type { RedisClient } from '../../../base/redis.ts';
import { settledWithin } from '../../../base/settled-within.ts';
import { subscribe } from '../../../base/subscriber.ts';
import { unlessAborted } from '../../../base/unless-aborted.ts';
import { asDeliveryId } from '../../../domain/ids.ts';
import { REPLY_CHANNEL, type PulledReply } from '../../../domain/reply.ts';
import type { Welcome } from '../../platform.ts';
import type { ConnectionUse, KeptConnection } from '../../connection.ts';
import { reconnectPauseMs } from '../../web-socket.ts';
import { EMPTY_ANSWER } from '../callback-answers.ts';
import type { ReadOptions } from '../read-delivery.ts';
import { welcomeReply } from '../welcome.ts';
import { BotSocket, NotSubscribed, REPLACED, type BotSocketTiming } from './bot-socket.ts';
import { ChatPace } from './chat-pace.ts';
import { Intake } from './intake.ts';
import { Lease, type HeldLease } from './lease.ts';
import { ReplyPlaces, type ReplyPlace } from './reply-places.ts';
import { ReplyPump } from './reply-pump.ts';

/** The AI bot's connection: where it is, and who we are there. */
export interface BotAccount {
  url: string;
  botId: string;
  secret: string;
}

export interface KeepConnectionOptions {
  account: BotAccount;
  timing: BotSocketTiming;
  use: ConnectionUse;
  reading: Omit<ReadOptions, 'laterReplyHandle'>;
  /** Where a tap on a card itself leads; without one there are no cards. */
  cardUrl?: string;
  redis: RedisClient;
  keyRing: KeyRing;
  log: Log;
}

/** A connection that did not live so long is no proof that all is well again. */
const PROVEN_AFTER_MS = 30 * SECOND_MS;
/** After so many failures in a row another process may try. */
const MOST_FAILURES = 3;
const LONGEST_PAUSE_MS = 10 * SECOND_MS;
/** Another program subscribes as this bot: coming back at once would be a fight without an end. */
const REPLACED_PAUSE_MS = 5 * MINUTE_MS;
/** At an orderly stop whoever takes over connects within this, and until then messages come here. */
const HANDED_OVER_WITHIN_MS = 3 * SECOND_MS;

/** How a connection ended: by what its `BotSocket` says, or since the lease is another's. */
type Ended = 'lost' | 'replaced' | 'broken' | 'refused' | 'stopped';

/**
 * Keeps the bot's one connection, in one process of all that do: the others stand by, and one of them connects as soon as the lease
 * is free (RELIABILITY.md connection-lost). Never tries a refused secret twice.
 */
export function keepConnection(options: KeepConnectionOptions): KeptConnection {
  const keeper = new ConnectionKeeper(options);
  return { close: () => keeper.close() };
}

class ConnectionKeeper {
  readonly #options: KeepConnectionOptions;
  readonly #places: ReplyPlaces;
  readonly #lease: Lease;
  readonly #intake: Intake;
  readonly #pace = new ChatPace(monotonicMs);
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;
  #pump: ReplyPump | undefined;

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
      const lease = await this.#lease.gain(signal);
      try {
        const ended = await this.#holdConnection(lease);
        if (ended === 'refused' || ended === 'stopped') return;
      } finally {
        await lease.release().catch(() => 0);
      }
    }
  }

  /** Connects, and connects again, as long as the lease is ours. */
  async #holdConnection(lease: HeldLease): Promise<Ended> {
    const { signal } = this.#stop;
    let failures = 0;
    let { gapMs } = lease;
    for (;;) {
      const beganMs = monotonicMs();
      const ended = await this.#connectOnce(lease, gapMs);
      gapMs = 0;
      if (ended === 'lost' || ended === 'refused' || ended === 'stopped') return ended;
      // Who is replaced is often told so before Redis says by whom.
      if (ended === 'replaced') await pauseUntil(REPLACED_PAUSE_MS, lease.lost, signal);
      if (lease.isLost()) return 'lost';
      failures = monotonicMs() - beganMs < PROVEN_AFTER_MS ? failures + 1 : 1;
      if (ended === 'replaced') continue;
      if (failures >= MOST_FAILURES) {
        await lease.release().catch(() => 0);
        await pause(reconnectPauseMs(failures, LONGEST_PAUSE_MS), undefined, { signal });
        return 'broken';
      }
      await pauseUntil(reconnectPauseMs(failures - 1, LONGEST_PAUSE_MS), lease.lost, signal);
      if (lease.isLost()) return 'lost';
    }
  }

  async #connectOnce(lease: HeldLease, gapMs: number): Promise<Ended> {
    const { account, timing, use } = this.#options;
    let socket: BotSocket;
    try {
      const { url, botId, secret } = account;
      socket = await BotSocket.open({
        ...{ url, botId, secret, timing },
        onCallback: (callback, from) =>
          this.#intake.receive(callback, (welcome) => this.#welcome(from, callback.reqId, welcome)),
      });
    } catch (thrown) {
      const isRefused = thrown instanceof NotSubscribed && thrown.isRefused;
      const reason = asError(thrown).message;
      use.onChange(isRefused ? { state: 'refused', reason } : { state: 'closed', reason });
      return isRefused ? 'refused' : 'broken';
    }
    use.onChange({ state: 'open', gapMs });
    const pump = this.#startPump(socket, lease);
    this.#pump = pump.pump;
    try {
      return await this.#untilOver(socket, lease);
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
      look: (id, place) => this.#look(id, place),
      cardUrl: this.#options.cardUrl,
    });
    const endHearing = subscribe(redis, {
      channel: REPLY_CHANNEL,
      onMessage: (id) => pump.tell(id),
      onReady: () => pump.lookAgain(),
    });
    return {
      pump,
      close() {
        endHearing();
        pump.close();
      },
    };
  }

  async #untilOver(socket: BotSocket, lease: HeldLease): Promise<Ended> {
    const { use } = this.#options;
    const { signal } = this.#stop;
    const lost = lease.lost.then(() => 'lost' as const);
    const left = socket.leaving.then((reason) => (reason === REPLACED ? ('replaced' as const) : ('broken' as const)));
    const ended = await unlessAborted(Promise.race([lost, left]), signal).catch(() => 'stopped' as const);
    if (ended === 'stopped') await this.#handOver(socket, lease);
    use.onChange({ state: 'closed', reason: ended === 'lost' || ended === 'stopped' ? ended : await socket.leaving });
    return ended;
  }

  /** Whoever stands by connects now; until then what people say comes here. */
  async #handOver(socket: BotSocket, lease: HeldLease): Promise<void> {
    const waiting = await lease.release().catch(() => 0);
    if (waiting > 0) await settledWithin([socket.leaving], HANDED_OVER_WITHIN_MS);
  }

  #stored(id: string, place: ReplyPlace, isAgain: boolean): void {
    const pump = this.#pump;
    if (!pump) inBackground(() => this.#places.tell(id));
    else if (isAgain) pump.tell(id, place.reqId);
    else pump.begin(id, place);
  }

  #welcome(socket: BotSocket, reqId: string, welcome: Welcome): void {
    const reply = welcomeReply(welcome, this.#options.cardUrl);
    inBackground(() => socket.send('aibot_respond_welcome_msg', reqId, reply));
  }

  /** As WeCom's own poll over the webhook would. */
  async #look(id: string, { chat, userId }: ReplyPlace): Promise<PulledReply | undefined> {
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
