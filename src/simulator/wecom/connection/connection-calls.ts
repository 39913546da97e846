import { Deferred } from '../../../shared/deferred.ts';
import { randomToken } from '../../../shared/crypto/ids.ts';
import type { DeliveryResult } from '../../protocol.ts';
import type { DeliveryClient } from '../bot-transport.ts';
import type { BotSockets } from './bot-sockets.ts';
import type { Requests } from './requests.ts';
import type { UnreadMessages } from './unread-messages.ts';

export interface ConnectionCallsOptions {
  sockets: Pick<BotSockets, 'bring' | 'isSubscribed'>;
  requests: Requests;
  unread: UnreadMessages;
  /** Time limit for answering an event. */
  eventAnswerMs: number;
  /** Aborted when the messenger stops. */
  signal: AbortSignal;
}

/** Events that are answered by a command with their own req_id. */
export const ANSWERED_BY: Readonly<Record<string, string>> = {
  enter_chat: 'aibot_respond_welcome_msg',
  template_card_event: 'aibot_respond_update_msg',
};

/**
 * The platform's transport over the connection that the bot opened: a message is sent once, there is no confirmation that it
 * was read, and without a subscription it is lost.
 */
export class ConnectionCalls implements DeliveryClient {
  readonly answersLater = true;
  readonly #options: ConnectionCallsOptions;

  constructor(options: ConnectionCallsOptions) {
    this.#options = options;
  }

  /** A subscription required the bot's secret. */
  verifyUrl(): Promise<boolean> {
    return Promise.resolve(this.#options.sockets.isSubscribed);
  }

  deliver(payload: object): Promise<DeliveryResult> {
    return this.callOnce(payload);
  }

  async callOnce(payload: object): Promise<DeliveryResult> {
    this.#options.signal.throwIfAborted();
    const { msgid, event } = payload as { msgid: string; event?: { eventtype: string } };
    return event ? this.#sendEvent(payload, event.eventtype) : this.#sendMessage(payload, msgid);
  }

  #sendMessage(payload: object, messageId: string): DeliveryResult {
    const { sockets, requests, unread } = this.#options;
    const reqId = newReqId();
    const connectionId = sockets.bring('aibot_msg_callback', reqId, payload);
    unread.recordSent(messageId, connectionId);
    if (connectionId === undefined) return { kind: unread.isResent ? 'silent' : 'unreachable' };
    requests.addMessage(reqId, messageId, connectionId);
    return { kind: 'silent' };
  }

  async #sendEvent(payload: object, eventtype: string): Promise<DeliveryResult> {
    const { sockets, requests, eventAnswerMs, signal } = this.#options;
    const reqId = newReqId();
    if (sockets.bring('aibot_event_callback', reqId, payload) === undefined) return { kind: 'unreachable' };
    if (ANSWERED_BY[eventtype] === undefined) return { kind: 'silent' };
    const answer = new Deferred<unknown>();
    const forget = requests.addEvent(reqId, eventtype, answer);
    const giveUp = () => answer.resolve(undefined);
    const timer = setTimeout(giveUp, eventAnswerMs);
    signal.addEventListener('abort', giveUp, { once: true });
    const reply = await answer.promise;
    signal.removeEventListener('abort', giveUp);
    clearTimeout(timer);
    forget();
    return reply === undefined ? { kind: 'silent' } : { kind: 'reply', reply };
  }
}

function newReqId(): string {
  return randomToken(18);
}
