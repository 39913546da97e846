import { setTimeout as pause } from 'node:timers/promises';
import type { RawConnections, SentFrame } from '../test/support/raw-wecom-connections.ts';
import { userIdOf } from './drain.ts';
import { kindOfText } from './judge-text.ts';
import { questionText, questionsIn, type SentEvent, type VisibleMessage } from './ledger.ts';

export interface ConnectedUsersOptions {
  connections: RawConnections;
  messages: VisibleMessage[];
  /** @returns the errcode with which a write to a conversation is refused; 0 executes it */
  refusalOf(conversation: string): number;
  isOver(): boolean;
}

/** A person whose message gets no response for this long sends the next one. */
const SIGN_WITHIN_MS = 5_000;
/**
 * A message whose connection ended this soon after it counts as undelivered: it was in the buffer of a dead or frozen
 * process.
 */
const GAP_MS = 20_000;

const WRITES = /^aibot_(?:respond|send)_msg$/;

/** Statistics of the connection. */
export interface ConnectionFigures {
  /** Number of successively subscribed connections. */
  subscriptions: number;
  /** Messages lost between two subscribed connections; WeCom does not retry. */
  lostInGaps: number;
  /** Of these, messages whose senders were told to ask again. */
  toldInGaps: number;
  /** Times from the end of a connection to the next subscription, if no standby was connected. Milliseconds. */
  gapsMs: number[];
}

/** WeCom's side for many people over the bot's single connection: sends each message once, and shows the responses. */
export class ConnectedWecomUsers {
  readonly #options: ConnectedUsersOptions;
  readonly #byRequest = new Map<string, { event: SentEvent; connection: number }>();
  readonly #byStream = new Map<string, VisibleMessage>();

  constructor(options: ConnectedUsersOptions) {
    this.#options = options;
    options.connections.judge = (frame) => {
      const errcode = WRITES.test(frame.cmd) ? options.refusalOf(this.#chatOf(frame)) : 0;
      if (errcode === 0) this.#show(frame);
      return errcode;
    };
  }

  /** @returns once the first response has arrived, or none came */
  async send(event: SentEvent): Promise<void> {
    const { connections, isOver } = this.#options;
    while (connections.newest === undefined) {
      if (isOver()) return;
      await pause(20);
    }
    const { newest: connection } = connections;
    const reqId = `request-${event.id}`;
    this.#byRequest.set(reqId, { event, connection });
    event.sentAtMs = Date.now();
    const note = { atMs: Date.now(), receiver: `connection ${connection}`, result: 'said' };
    event.tries.push(note);
    const chatId = chatIdOf(event);
    connections.say(questionText(event), {
      ...{ msgid: event.messageId, reqId, userId: userIdOf(event) },
      ...(chatId === undefined ? {} : { chatId }),
    });
    while (event.acknowledgedAtMs === undefined && Date.now() < event.sentAtMs + SIGN_WITHIN_MS) await pause(10);
    if (event.acknowledgedAtMs === undefined) note.result = 'no sign in time';
  }

  /**
   * Call when the system is idle: messages that the product received, or should have received, count as accepted.
   * @returns the lost messages and the gaps
   */
  conclude(): ConnectionFigures {
    const { ends, subscriptions } = this.#options.connections;
    const told = new Set(this.#options.messages.filter(asksAgain).map(({ event }) => event));
    let [lostInGaps, toldInGaps] = [0, 0];
    for (const { event, connection } of this.#byRequest.values()) {
      const endedAtMs = ends.get(connection) ?? Number.POSITIVE_INFINITY;
      const fellIntoGap = endedAtMs - event.sentAtMs < GAP_MS;
      if (event.record === undefined && fellIntoGap) {
        lostInGaps += 1;
        if (told.has(event.id)) toldInGaps += 1;
        event.acknowledgedAtMs = undefined;
      } else event.acknowledgedAtMs ??= event.sentAtMs;
    }
    const began = [...subscriptions.values()];
    const gapsMs = [...ends.values()].flatMap((endedAtMs) => {
      const nextMs = began.find((atMs) => atMs > endedAtMs);
      const isHeld = [...subscriptions].some(
        ([id, atMs]) => atMs < endedAtMs && (ends.get(id) ?? Infinity) > endedAtMs,
      );
      return nextMs === undefined || isHeld ? [] : [nextMs - endedAtMs];
    });
    return { subscriptions: subscriptions.size, lostInGaps, toldInGaps, gapsMs };
  }

  /** A reply names its request, a push its chat. */
  #chatOf({ reqId, body }: SentFrame): string {
    const event = this.#byRequest.get(reqId)?.event;
    if (event) return chatIdOf(event) ?? userIdOf(event);
    return typeof body['chatid'] === 'string' ? body['chatid'] : reqId;
  }

  #show({ cmd, reqId, body }: SentFrame): void {
    if (cmd === 'aibot_respond_msg') {
      const { id, content, finish } = body['stream'] as { id: string; content: string; finish: boolean };
      const event = this.#byRequest.get(reqId)?.event;
      if (event) event.acknowledgedAtMs ??= Date.now();
      this.#put(`${reqId} ${id}`, event, { content, finish });
    }
    if (cmd === 'aibot_send_msg') {
      const { content } = body['markdown'] as { content: string };
      const [asked] = questionsIn(content);
      const event = [...this.#byRequest.values()].find((one) => one.event.id === asked)?.event;
      this.#put(`push ${reqId}`, event, { content, finish: true });
    }
  }

  #put(key: string, event: SentEvent | undefined, { content, finish }: { content: string; finish: boolean }): void {
    let message = this.#byStream.get(key);
    if (!message) {
      message = { conversation: event?.conversation ?? 0, event: event?.id, snapshots: [], isFinal: false };
      this.#byStream.set(key, message);
      this.#options.messages.push(message);
    }
    if (content !== (message.snapshots.at(-1)?.text ?? '')) message.snapshots.push({ atMs: Date.now(), text: content });
    message.isFinal = finish;
  }
}

/** The group of a question; undefined in a private chat. */
function chatIdOf({ conversation }: SentEvent): string | undefined {
  return conversation % 8 === 0 ? `group${conversation}` : undefined;
}

function asksAgain({ snapshots }: VisibleMessage): boolean {
  return kindOfText(snapshots.at(-1)?.text ?? '').kind === 'gone';
}
