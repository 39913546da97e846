import { setTimeout as pause } from 'node:timers/promises';
import { MIB_BYTES, monotonicMs, SECOND_MS } from '../../../../shared/clock.ts';
import { inBackground } from '../../../../shared/in-background.ts';
import { settledWithin } from '../../../../shared/settled-within.ts';
import { deliveryIdOf } from '../../../domain/conversation.ts';
import type { ConnectionHandlers, Delivery, Welcome } from '../../platform.ts';
import { EMPTY_ANSWER } from '../callback-answers.ts';
import { readDelivery, type ReadOptions } from '../read-delivery.ts';
import { laterHandleOf } from './later-messages.ts';
import type { Frame } from './read-frame.ts';
import type { ReplyPlace, ReplyPlaces } from './reply-places.ts';

export type Callback = Extract<Frame, { kind: 'callback' }>;
type MessageDelivery = Extract<Delivery, { kind: 'message' }>;

export interface IntakeOptions {
  use: Pick<ConnectionHandlers, 'take' | 'onLost'>;
  places: ReplyPlaces;
  reading: Omit<ReadOptions, 'laterReplyHandle'>;
  /** Called once a message is stored and its answer has a place. @param isAgain the place existed before */
  onStored(id: string, place: ReplyPlace, isAgain: boolean): void;
}

/** Maximum messages kept here until they are stored. WeCom cannot be told that a message was not stored. */
const MAX_WAITING = 2_000;
const MAX_WAITING_CHARS = 32 * MIB_BYTES;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2 * SECOND_MS;
/** Age from which a recorded place is checked again before its message is accepted. */
const CERTAIN_MS = 2 * SECOND_MS;
/** Maximum wait of a stop for messages that Redis does not take. */
const CLOSE_WITHIN_MS = 5 * SECOND_MS;

/**
 * Stores what the connection receives, in order within each chat. WeCom sends nothing twice, so storing is retried until it
 * succeeds, even by a process that no longer holds the connection.
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

  /**
   * Accepts one message or event; returns at once.
   * @param onWelcome called for a person who entered the chat, to send the welcome by this request
   */
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
    if (delivery.kind === 'message') this.#enqueue(delivery, reqId, chars);
    else inBackground(() => use.take(() => delivery));
  }

  /** Waits a while for messages that are not stored yet; those not stored by then are lost. */
  async close(): Promise<void> {
    const underWay = [...this.#lastOf.values()];
    await settledWithin(underWay, CLOSE_WITHIN_MS);
    this.#isClosing = true;
  }

  #enqueue(delivery: MessageDelivery, reqId: string, chars: number): void {
    if (this.#waiting >= MAX_WAITING || this.#waitingChars + chars > MAX_WAITING_CHARS)
      return this.#options.use.onLost('too many messages wait to be stored');
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
   * Never rejects. Records the place first: a message accepted without a place would be answered invisibly. If this process
   * ends in between, only the place remains, and the next holder asks the sender to repeat the question.
   */
  async #store(delivery: MessageDelivery, reqId: string): Promise<void> {
    const { places, use, onStored } = this.#options;
    const { message } = delivery;
    const { chat, sender } = message;
    const id = deliveryIdOf(message);
    const place: ReplyPlace = { version: 1, reqId, streamId: id, chat, userId: sender.userId };
    let isAgain = true;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2)) {
      const askedAtMs = monotonicMs();
      const opened = await places.open(id, place, false).catch(() => undefined);
      if (opened === 'sent' || opened === 'refused') return;
      isAgain &&= opened === 'known';
      // After a freeze of this process, the sender may already have been asked to repeat the question.
      const isCertain = opened !== undefined && monotonicMs() - askedAtMs < CERTAIN_MS;
      if (isCertain && (await use.take(() => delivery))) return onStored(id, place, isAgain);
      if (this.#isClosing) return use.onLost('this process stops before Redis accepts the message');
      await pause(pauseMs);
    }
  }
}
