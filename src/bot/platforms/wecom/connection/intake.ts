import { setTimeout as pause } from 'node:timers/promises';
import { MIB_BYTES, monotonicMs, SECOND_MS } from '../../../../shared/clock.ts';
import { inBackground } from '../../../../shared/in-background.ts';
import { settledWithin } from '../../../../shared/settled-within.ts';
import { deliveryIdOf } from '../../../domain/conversation.ts';
import type { ConnectionUse, Delivery, Welcome } from '../../platform.ts';
import { EMPTY_ANSWER } from '../callback-answers.ts';
import { readDelivery, type ReadOptions } from '../read-delivery.ts';
import { laterHandleOf } from './later-messages.ts';
import type { Frame } from './read-frame.ts';
import type { ReplyPlace, ReplyPlaces } from './reply-places.ts';

export type Callback = Extract<Frame, { kind: 'callback' }>;
type MessageDelivery = Extract<Delivery, { kind: 'message' }>;

export interface IntakeOptions {
  use: Pick<ConnectionUse, 'take' | 'onLost'>;
  places: ReplyPlaces;
  reading: Omit<ReadOptions, 'laterReplyHandle'>;
  /** A message is stored, and its answer has a place. @param isAgain it had one before */
  onStored(id: string, place: ReplyPlace, isAgain: boolean): void;
}

/** Nothing tells WeCom that a message was not stored: so it is kept here until it is, within this. */
const MOST_WAITING = 2_000;
const MOST_WAITING_CHARS = 32 * MIB_BYTES;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2 * SECOND_MS;
/** A place that was noted longer ago is looked at once more before its message is accepted. */
const CERTAIN_MS = 2 * SECOND_MS;
/** A stop waits no longer for what Redis does not take. */
const CLOSE_WITHIN_MS = 5 * SECOND_MS;

/**
 * Takes in what comes over the connection, in each chat in the order in which it came. WeCom sends nothing twice: what cannot be
 * stored now is tried again until it is, also by a process that holds the connection no more.
 */
export class Intake {
  readonly #options: IntakeOptions;
  readonly #lastOf = new Map<string, Promise<void>>();
  #waiting = 0;
  #waitingChars = 0;
  #isClosing = false;

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  /** Takes one message or event; returns at once. @param onWelcome somebody entered the chat: what they are told by this request */
  receive({ reqId, body, chars }: Callback, onWelcome: (welcome: Welcome) => void): void {
    const { use } = this.#options;
    const reading: ReadOptions = {
      ...this.#options.reading,
      laterReplyHandle: ({ from: { userid: userId } }, chat) => laterHandleOf({ reqId, chat, userId }),
    };
    const delivery = readDelivery(
      body,
      {
        firstAnswer: () => EMPTY_ANSWER,
        poll: () => EMPTY_ANSWER,
        welcome(welcome) {
          onWelcome(welcome);
          return EMPTY_ANSWER;
        },
      },
      reading,
    );
    if (delivery.kind === 'message') this.#behind(delivery, reqId, chars);
    else inBackground(() => use.take(() => delivery));
  }

  /** Waits a while for what is not stored yet; what is not by then is lost. */
  async close(): Promise<void> {
    const underWay = [...this.#lastOf.values()];
    await settledWithin(underWay, CLOSE_WITHIN_MS);
    this.#isClosing = true;
  }

  #behind(delivery: MessageDelivery, reqId: string, chars: number): void {
    if (this.#waiting >= MOST_WAITING || this.#waitingChars + chars > MOST_WAITING_CHARS)
      return this.#options.use.onLost('too many wait to be stored');
    this.#waiting += 1;
    this.#waitingChars += chars;
    const { kind, id } = delivery.message.chat;
    const chat = `${kind}:${id}`;
    const before = this.#lastOf.get(chat);
    const stored = (before ?? Promise.resolve()).then(() => this.#store(delivery, reqId));
    this.#lastOf.set(chat, stored);
    inBackground(() =>
      stored.finally(() => {
        this.#waiting -= 1;
        this.#waitingChars -= chars;
        if (this.#lastOf.get(chat) === stored) this.#lastOf.delete(chat);
      }),
    );
  }

  /**
   * Never rejects. The place is noted first: a message that was accepted without one would be answered where nobody sees it. Where
   * the place alone is left, since this process ended in between, whoever takes over tells its writer to ask again.
   */
  async #store(delivery: MessageDelivery, reqId: string): Promise<void> {
    const { places, use, onStored } = this.#options;
    const { message } = delivery;
    const { chat, sender } = message;
    const id = deliveryIdOf(message);
    const place: ReplyPlace = { version: 1, reqId, streamId: id, chat, userId: sender.userId };
    let isAgain = true;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
      const askedAtMs = monotonicMs();
      const opened = await places.open(id, place, false).catch(() => undefined);
      if (opened === 'sent' || opened === 'refused') return;
      isAgain &&= opened === 'known';
      // Whoever was frozen since may find that its writer has been told to ask again.
      const isCertain = opened !== undefined && monotonicMs() - askedAtMs < CERTAIN_MS;
      if (isCertain && (await use.take(() => delivery))) return onStored(id, place, isAgain);
      if (this.#isClosing) return use.onLost('this process stops before Redis takes it');
      await pause(pauseMs);
    }
  }
}
