import { setTimeout as pause } from 'node:timers/promises';
import type { SeededRandom } from '../test/support/seeded-random.ts';
import type { ChatPlatform, Ledger, SentEvent } from './ledger.ts';
import { slackMessageId } from './slack-users.ts';

export interface TrafficOptions {
  ledger: Ledger;
  random: SeededRandom;
  /** Messages per second, of all people together. */
  ratePerSec: number;
  loadMs: number;
  /** Number of people. Defaults to the number that the rate requires. */
  users?: number;
  /** Whether a person takes part. Defaults to all. */
  takesPart?(person: number): boolean;
  /** Called before each message; ends the load early. */
  isEnough(): boolean;
  send: Record<ChatPlatform, (event: SentEvent) => Promise<void>>;
}

/** Below the product's limit of 20 messages per person and minute, so that the limit never applies. */
const MAX_A_MINUTE = 12;
/** Share of messages that are followed by another one at once, while the first is being answered. */
const FOLLOW_UP_ONE_IN = 4;

/**
 * Many people who send messages at a steady rate for a while, half of them on each platform. A person sends the next message
 * only after the last one was acknowledged or given up, so that the order within a conversation is certain.
 */
export async function runTraffic(options: TrafficOptions): Promise<void> {
  const { ledger, random, ratePerSec, loadMs, send, isEnough, takesPart = () => true } = options;
  const { users = Math.max(8, Math.ceil((ratePerSec * 60) / (MAX_A_MINUTE / 3))) } = options;
  const sentAtMs = new Map<number, number[]>();
  const busy = new Set<number>();
  const sending: Promise<void>[] = [];
  const startedAtMs = Date.now();
  const isFree = (person: number) => {
    const recent = (sentAtMs.get(person) ?? []).filter((atMs) => atMs > Date.now() - 60_000);
    sentAtMs.set(person, recent);
    return takesPart(person) && !busy.has(person) && recent.length < MAX_A_MINUTE;
  };
  let last = 1;
  for (let count = 0; ; count += 1) {
    const dueAtMs = startedAtMs + (count * 1_000) / ratePerSec;
    if (dueAtMs >= startedAtMs + loadMs || isEnough()) break;
    if (dueAtMs > Date.now()) await pause(dueAtMs - Date.now());
    const drawn = random.integer(1, users);
    const person = random.oneIn(FOLLOW_UP_ONE_IN) && isFree(last) ? last : drawn;
    if (!isFree(person)) continue;
    last = person;
    busy.add(person);
    sentAtMs.get(person)?.push(Date.now());
    const event = addEvent(ledger, person);
    sending.push(send[event.platform](event).finally(() => busy.delete(person)));
  }
  await Promise.all(sending);
}

/** Odd conversations are Slack's, even ones WeCom's. @param says text instead of a question */
export function addEvent({ events }: Ledger, conversation: number, says?: string): SentEvent {
  const id = events.length + 1;
  const platform: ChatPlatform = conversation % 2 === 0 ? 'wecom' : 'slack';
  const messageId = platform === 'slack' ? slackMessageId({ id, conversation }) : `chaos-${id}`;
  const event: SentEvent = {
    id,
    platform,
    conversation,
    messageId,
    sentAtMs: Date.now(),
    tries: [],
    ...(says === undefined ? {} : { says }),
  };
  events.push(event);
  return event;
}
