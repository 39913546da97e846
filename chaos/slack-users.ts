import { setTimeout as pause } from 'node:timers/promises';
import type { FakeSlack, SlackMessage, SlackStatus } from '../test/support/fake-slack.ts';
import type { SlackSockets } from './slack-sockets.ts';
import { createSlackSender, eventCallback } from '../test/support/slack-sender.ts';
import type { Gateway } from './gateway.ts';
import { kindOfText } from './judge-text.ts';
import { hasEnded, questionText, type SentEvent, type VisibleMessage } from './ledger.ts';

export interface SlackUsersOptions {
  gateway: Gateway;
  signingSecret: string;
  /** Set if deliveries use sockets instead of calls. */
  sockets?: SlackSockets;
  moreHeaders: Record<string, string>;
  /** Where files are stored that people attach to one of a number of questions; without it there are no files. */
  sharing?: Pick<FakeSlack, 'files' | 'fileFacts'> & { oneIn: number };
}

/**
 * Slack's own limits: three seconds, four deliveries in total; its pauses of one and five minutes are shortened
 * (RELIABILITY.md receiver-killed).
 */
const PAUSES_MS = [0, 200, 1_500, 4_000];
const DELIVERY_LIMIT_MS = 3_000;

/** Slack's side for many people: delivers with its retries; a mention in a channel is sent as two events. */
export class SlackUsers {
  readonly #options: SlackUsersOptions;

  constructor(options: SlackUsersOptions) {
    this.#options = options;
  }

  /** @returns once it is acknowledged, or given up by the platform */
  async send(event: SentEvent): Promise<void> {
    const said = { ...placeOf(event), ...this.#shared(event) };
    const kinds = said.channel.startsWith('D')
      ? [{ type: 'message', channel_type: 'im', text: questionText(event) }]
      : [
          { type: 'app_mention', text: `<@UBOT> ${questionText(event)}` },
          { type: 'message', channel_type: 'channel', text: `<@UBOT> ${questionText(event)}` },
        ];
    const isTaken = await Promise.all(kinds.map((kind) => this.#sendOne(event, { ...kind, ...said })));
    if (isTaken.some((taken) => taken)) event.acknowledgedAtMs = Date.now();
  }

  /** A file's text is recognizable in the prompts that contain it, and would be in another conversation's. */
  #shared({ id, conversation }: SentEvent): object {
    const { sharing } = this.#options;
    if (!sharing || id % sharing.oneIn !== 0) return {};
    const path = `/files-pri/T1-F${id}/notes.txt`;
    sharing.files.set(path, Buffer.from(`Notes of C${conversation}.`));
    // Each process reaches Slack through its own link, so an address is valid for only one of them.
    sharing.fileFacts.set(`F${id}`, (host) => ({
      id: `F${id}`,
      name: 'notes.txt',
      url_private: `http://${host}${path}`,
    }));
    return { subtype: 'file_share', files: [{ id: `F${id}`, file_access: 'check_file_info' }] };
  }

  async #sendOne(event: SentEvent, body: object): Promise<boolean> {
    const { gateway, signingSecret, sockets, moreHeaders } = this.#options;
    for (const pauseMs of PAUSES_MS) {
      await pause(pauseMs);
      if (sockets) {
        const atMs = Date.now();
        const { socket, isTaken } = await sockets.deliver(eventCallback(body, atMs), DELIVERY_LIMIT_MS);
        event.tries.push({ atMs, receiver: socket, result: isTaken ? 'acknowledged' : 'no answer in time' });
        if (isTaken) return true;
        continue;
      }
      const receiver = await gateway.pick();
      const note = { atMs: Date.now(), receiver: receiver.name, result: 'cut off' };
      event.tries.push(note);
      const sending = createSlackSender(`${receiver.url}/webhooks/slack`, signingSecret, Date.now, moreHeaders).event(
        body,
      );
      const status = await Promise.race([
        sending.catch(() => 'cut off' as const),
        pause(DELIVERY_LIMIT_MS, 'no answer in time' as const, { ref: false }),
      ]);
      note.result = String(status);
      if (status === 200) return true;
    }
    return false;
  }
}

/** The product's message id of an event: its channel and time. */
export function slackMessageId(event: Pick<SentEvent, 'id' | 'conversation'>): string {
  const { channel, ts } = placeOf(event);
  return `${channel}:${ts}`;
}

/**
 * Messages in the stand-in's workspace as people see them; each answer is in the thread of its question. A message does not
 * state there that it is final: the product's own record does, and then no stream may be open.
 */
export function visibleInSlack(posted: readonly SlackMessage[], events: readonly SentEvent[]): VisibleMessage[] {
  const byPlace = new Map(
    events.filter(({ platform }) => platform === 'slack').map((event) => [slackMessageId(event), event]),
  );
  return posted.map(({ channel, threadTs, snapshots, snapshotAtMs, isStreaming }) => {
    const event = byPlace.get(`${channel}:${threadTs ?? ''}`);
    return {
      conversation: event?.conversation ?? 0,
      event: event?.id,
      snapshots: snapshots.map((text, index) => ({ text, atMs: snapshotAtMs[index] ?? 0 })),
      isFinal: !isStreaming && event !== undefined && isWhole(event, snapshots.at(-1) ?? ''),
      isOpen: isStreaming,
    };
  });
}

/** If a restored Redis has no record of it, only the text itself tells. */
function isWhole({ record }: SentEvent, text: string): boolean {
  const kind = kindOfText(text);
  return record ? hasEnded(record) : kind.kind !== 'answer' || kind.isWhole;
}

/** The current status lines, by the question of their thread. */
export function statusesInSlack(statuses: readonly SlackStatus[], events: readonly SentEvent[]) {
  const byPlace = new Map(events.map((event) => [slackMessageId(event), event.id]));
  return statuses.map(({ channel, threadTs, text }) => ({ event: byPlace.get(`${channel}:${threadTs}`), text }));
}

/** Every eighth conversation is in a channel with only one person. */
function placeOf({ id, conversation }: Pick<SentEvent, 'id' | 'conversation'>) {
  const channel = conversation % 8 === 1 ? `C0${conversation}` : `DU${conversation}`;
  return { channel, user: `U${conversation}`, ts: `1760000000.${String(id).padStart(6, '0')}` };
}
