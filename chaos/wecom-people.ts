import { setTimeout as pause } from 'node:timers/promises';
import { createWecomSender, type WecomSender } from '../test/support/wecom-sender.ts';
import type { Gateway } from './gateway.ts';
import { questionText, type SentEvent, type VisibleMessage } from './ledger.ts';

export interface WecomPeopleOptions {
  gateway: Gateway;
  token: string;
  aesKey: string;
  /** Where an answer may be posted later; each message has an address of its own below it. */
  replyUrl: string;
  messages: VisibleMessage[];
  isOver(): boolean;
}

/** WeCom's own: five seconds, three tries in all (reliability.md 2.2). */
const TRIES = 3;
const DELIVERY_LIMIT_MS = 5_000;
const POLL_EVERY_MS = 1_000;

interface StreamAnswer {
  stream?: { id: string; finish: boolean; content: string };
}

/** WeCom's side for many people: delivers with its retries, then polls each reply as the app does, until it is finished. */
export class WecomPeople {
  readonly #options: WecomPeopleOptions;
  readonly #senders = new Map<string, WecomSender>();
  #polls = 0;

  constructor(options: WecomPeopleOptions) {
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
    const sending = this.#sender(receiver.url).send(body);
    sending.catch(() => undefined);
    const answered = await Promise.race([
      sending.catch(() => undefined),
      pause(DELIVERY_LIMIT_MS, 'late' as const, { ref: false }),
    ]);
    note.result = answered === 'late' ? 'no answer in time' : answered ? String(answered.status) : 'cut off';
    return answered && answered !== 'late' && answered.status === 200 ? (answered.answer as StreamAnswer) : undefined;
  }

  async #poll(event: SentEvent, streamId: string): Promise<void> {
    const { messages, gateway, isOver } = this.#options;
    const message: VisibleMessage = { conversation: event.conversation, event: event.id, looks: [], isFinal: false };
    messages.push(message);
    while (!isOver() && !message.isFinal) {
      await pause(POLL_EVERY_MS);
      const { url } = await gateway.pick();
      const answer = await this.#ask(url, event, streamId);
      if (!answer?.stream) continue;
      const { content, finish } = answer.stream;
      if (content !== (message.looks.at(-1)?.text ?? '')) message.looks.push({ atMs: Date.now(), text: content });
      message.isFinal = finish;
    }
  }

  async #ask(url: string, event: SentEvent, streamId: string): Promise<StreamAnswer | undefined> {
    this.#polls += 1;
    const poll = { ...this.#place(event), msgid: `poll-${this.#polls}`, msgtype: 'stream', stream: { id: streamId } };
    const asked = this.#sender(url).send(poll);
    asked.catch(() => undefined);
    const answered = await Promise.race([
      asked.catch(() => undefined),
      pause(DELIVERY_LIMIT_MS, undefined, { ref: false }),
    ]);
    return answered?.status === 200 ? (answered.answer as StreamAnswer) : undefined;
  }

  /** Every fourth conversation is one person's in a group of their own. */
  #place({ conversation }: SentEvent): object {
    const from = { userid: `person${conversation}` };
    const chat =
      conversation % 8 === 0 ? { chattype: 'group', chatid: `group${conversation}` } : { chattype: 'single' };
    return { aibotid: 'aibot-chaos', from, ...chat };
  }

  #sender(url: string): WecomSender {
    const { token, aesKey } = this.#options;
    const known = this.#senders.get(url) ?? createWecomSender({ botUrl: url, token, aesKey });
    this.#senders.set(url, known);
    return known;
  }
}
