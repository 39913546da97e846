import { setTimeout as pause } from 'node:timers/promises';
import type { Gateway } from './gateway.ts';
import { questionText, type SentEvent, type VisibleMessage } from './ledger.ts';
import { sendCallback, type StreamAnswer } from './wecom-callbacks.ts';

export interface WecomUsersOptions {
  gateway: Gateway;
  token: string;
  aesKey: string;
  moreHeaders: Record<string, string>;
  /** URL for a later post; each message has its own URL below it. */
  replyUrl: string;
  messages: VisibleMessage[];
  isOver(): boolean;
}

/** WeCom's own limits: five seconds, three attempts in total (SECURITY.md sealed-records). */
const TRIES = 3;
const DELIVERY_LIMIT_MS = 5_000;
const POLL_EVERY_MS = 1_000;

/** WeCom's side for many people: delivers with its retries, then polls each reply as the app does, until it is finished. */
export class WecomUsers {
  readonly #options: WecomUsersOptions;
  #polls = 0;

  constructor(options: WecomUsersOptions) {
    this.#options = options;
  }

  /** @returns once it is acknowledged, or given up by the platform */
  async send(event: SentEvent): Promise<void> {
    const body = {
      ...this.#place(event),
      msgid: event.messageId,
      msgtype: 'text',
      text: { content: questionText(event) },
      response_url: `${this.#options.replyUrl}/reply?event=${event.id}`,
    };
    for (let tries = 0; tries < TRIES; tries += 1) {
      if (tries > 0) await pause(500);
      const answer = await this.#deliver(event, body);
      if (!answer?.stream) continue;
      event.acknowledgedAtMs = Date.now();
      void this.#poll(event, answer.stream.id);
      return;
    }
  }

  async #deliver(event: SentEvent, body: object): Promise<StreamAnswer | undefined> {
    const { gateway } = this.#options;
    const receiver = await gateway.pick();
    const note = { atMs: Date.now(), receiver: receiver.name, result: 'cut off' };
    event.tries.push(note);
    try {
      const { status, answer } = await this.#call(receiver.url, body);
      note.result = String(status);
      return answer;
    } catch (error) {
      if (error instanceof Error && error.name === 'TimeoutError') note.result = 'no answer in time';
      return undefined;
    }
  }

  async #poll(event: SentEvent, streamId: string): Promise<void> {
    const { messages, gateway, isOver } = this.#options;
    const message: VisibleMessage = {
      conversation: event.conversation,
      event: event.id,
      snapshots: [],
      isFinal: false,
    };
    messages.push(message);
    while (!isOver() && !message.isFinal) {
      await pause(POLL_EVERY_MS);
      const { url } = await gateway.pick();
      const answer = await this.#ask(url, event, streamId);
      if (!answer?.stream) continue;
      const { content, finish } = answer.stream;
      if (content !== (message.snapshots.at(-1)?.text ?? ''))
        message.snapshots.push({ atMs: Date.now(), text: content });
      message.isFinal = finish;
    }
  }

  async #ask(url: string, event: SentEvent, streamId: string): Promise<StreamAnswer | undefined> {
    this.#polls += 1;
    const poll = { ...this.#place(event), msgid: `poll-${this.#polls}`, msgtype: 'stream', stream: { id: streamId } };
    const answered = await this.#call(url, poll).catch(() => undefined);
    return answered?.answer;
  }

  #call(url: string, message: object): ReturnType<typeof sendCallback> {
    const { token, aesKey, moreHeaders } = this.#options;
    return sendCallback(url, message, { token, aesKey, moreHeaders, limitMs: DELIVERY_LIMIT_MS });
  }

  /** Every fourth conversation is in a group with only one person. */
  #place({ conversation }: SentEvent): object {
    const from = { userid: `person${conversation}` };
    const chat =
      conversation % 8 === 0 ? { chattype: 'group', chatid: `group${conversation}` } : { chattype: 'single' };
    return { aibotid: 'aibot-chaos', from, ...chat };
  }
}
