import { expect } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { pendingKey } from '../../src/bot/domain/partition-keys.ts';
import { ALL_PARTITIONS } from '../../src/bot/domain/conversation.ts';
import { chunk, sse, type Answer } from '../bot/model/scripted-chat-server.ts';
import type { ParleyProcess } from './parley-process.ts';
import type { SlackDeployment } from './slack-deployment.ts';
import { untilTrue } from './deployment.ts';

export interface Storm {
  /** Messages per second, and the duration. */
  ratePerSec: number;
  forSec: number;
  /** The processes of the bots, whose memory is measured. */
  processes: ParleyProcess[];
  /** Maximum time for the queue to drain afterwards. */
  drainLimitMs: number;
}

export interface StormFigures {
  sent: number;
  /** Deliveries without a 2xx response. */
  refused: number;
  answered: number;
  busy: number;
  ackP99Ms: number;
  ackMaxMs: number;
  drainedMs: number;
  /** Memory of the largest process: before, and the peak. */
  rssBeforeMib: number;
  rssPeakMib: number;
}

export const STORM_ANSWER = 'It is answered.';
const BUSY = 'Too many people are asking';
const HELP = '`retry`';
/** Sent one after another before the storm, since fresh processes are slow. */
const WARM_UP_MESSAGES = 20;
/** One in this many people sends three messages, so that the order can be checked. */
const TALKATIVE = 10;
const SAMPLE_EVERY_MS = 250;

/** An answer with a realistic duration: a bot with N slots gives at most N of them in that time. */
export function slowAnswer(tookMs: number): Answer {
  return async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    await sleep(tookMs);
    response.end(chunk({ content: STORM_ANSWER }, 'stop') + sse('[DONE]'));
  };
}

interface Person {
  channel: string;
  /** Status and time of each delivery, in order. */
  acks: { status: number; tookMs: number }[];
  says: string[];
}

/**
 * Sends a storm of messages, each at its time regardless of earlier responses (RELIABILITY.md delivery-storm), and waits
 * until none is left. Expects that each acknowledged message has one visible answer or busy note, in order, and that no
 * question was sent to the model twice or in addition to a busy note.
 */
export async function runStorm(deployment: SlackDeployment, storm: Storm): Promise<StormFigures> {
  await warmUp(deployment);
  const rssBeforeMib = largestRssMib(storm.processes);
  let rssPeakMib = rssBeforeMib;
  const sampling = setInterval(() => {
    rssPeakMib = Math.max(rssPeakMib, largestRssMib(storm.processes));
  }, SAMPLE_EVERY_MS);
  try {
    const people = await sendStorm(deployment, storm);
    const endedMs = performance.now();
    await untilTrue(() => isDrained(deployment), storm.drainLimitMs);
    const drainedMs = performance.now() - endedMs;
    const judged = judge(deployment, people);
    const times = people.flatMap(({ acks }) => acks.map(({ tookMs }) => tookMs)).sort((a, b) => a - b);
    return {
      ...judged,
      ackP99Ms: times[Math.floor(times.length * 0.99)] ?? 0,
      ackMaxMs: times.at(-1) ?? 0,
      drainedMs,
      rssBeforeMib,
      rssPeakMib,
    };
  } finally {
    clearInterval(sampling);
  }
}

/** Prints the measurements on one line, for the fault table. */
export function tellStorm(name: string, figures: StormFigures): void {
  const { sent, refused, answered, busy, ackP99Ms, ackMaxMs, drainedMs, rssBeforeMib, rssPeakMib } = figures;
  process.stdout.write(
    `${name}: ${sent} deliveries, ${refused} refused; ${answered} answered, ${busy} busy notes; ` +
      `ack p99 ${ackP99Ms.toFixed(0)} ms, max ${ackMaxMs.toFixed(0)} ms; drained after ${(drainedMs / 1_000).toFixed(1)} s; ` +
      `memory ${rssBeforeMib.toFixed(0)} -> at most ${rssPeakMib.toFixed(0)} MiB\n`,
  );
}

/** Slash words, which are answered without the model. */
async function warmUp(deployment: SlackDeployment): Promise<void> {
  for (let sent = 0; sent < WARM_UP_MESSAGES; sent += 1) await deployment.sender.direct(`UWARM${sent}`, '/help');
  await untilTrue(() => isDrained(deployment));
}

async function sendStorm(deployment: SlackDeployment, { ratePerSec, forSec }: Storm): Promise<Person[]> {
  const people: Person[] = [];
  const talks: Promise<void>[] = [];
  const startedMs = performance.now();
  const messages = ratePerSec * forSec;
  for (let sent = 0; sent < messages;) {
    const dueInMs = startedMs + (sent * 1_000) / ratePerSec - performance.now();
    if (dueInMs > 0) await sleep(dueInMs);
    const says = people.length % TALKATIVE === 0 ? ['first', '/help', 'second'] : ['a question'];
    const person: Person = { channel: `DU${people.length}`, acks: [], says };
    people.push(person);
    talks.push(talk(deployment, person));
    sent += says.length;
  }
  await Promise.all(talks);
  return people;
}

async function talk({ sender }: SlackDeployment, { channel, acks, says }: Person): Promise<void> {
  for (const [index, text] of says.entries()) {
    const startedMs = performance.now();
    const user = channel.slice(1);
    const ts = `1760000000.${user.slice(1).padStart(5, '0')}${index}`;
    const event = { type: 'message', channel_type: 'im', channel, user, text, ts };
    const status = await sender.event(event).catch(() => 0);
    acks.push({ status, tookMs: performance.now() - startedMs });
  }
}

async function isDrained({ redis }: SlackDeployment): Promise<boolean> {
  const waiting = await Promise.all(ALL_PARTITIONS.map((partition) => redis.zcard(pendingKey(partition))));
  return waiting.every((count) => count === 0);
}

function judge(
  deployment: SlackDeployment,
  people: Person[],
): Pick<StormFigures, 'sent' | 'refused' | 'answered' | 'busy'> {
  const shown = new Map<string, string[]>();
  for (const { channel, text } of deployment.slack.messages) shown.set(channel, [...(shown.get(channel) ?? []), text]);
  const faults: string[] = [];
  for (const { channel, acks, says } of people) {
    const texts = shown.get(channel) ?? [];
    const acknowledged = says.filter((_, index) => acks[index]?.status === 200);
    // A refused message may have been stored anyway; it is answered then.
    const isRight =
      acknowledged.length === says.length
        ? texts.length === says.length && texts.every((text, index) => fits(text, says[index] ?? ''))
        : texts.length >= acknowledged.length && texts.length <= says.length;
    if (!isRight) faults.push(`${channel} said ${says.join(', ')} and saw ${JSON.stringify(texts)}`);
  }
  expect(faults.slice(0, 5)).toEqual([]);
  const texts = people.flatMap(({ channel }) => shown.get(channel) ?? []);
  const answered = texts.filter((text) => text === STORM_ANSWER).length;
  expect(deployment.chat.calls).toHaveLength(answered);
  const acks = people.flatMap((person) => person.acks);
  return {
    sent: acks.length,
    refused: acks.filter(({ status }) => status !== 200).length,
    answered,
    busy: texts.filter((text) => text.startsWith(BUSY)).length,
  };
}

function fits(text: string, said: string): boolean {
  return said === '/help'
    ? text.includes(HELP) && !text.startsWith(BUSY)
    : text === STORM_ANSWER || text.startsWith(BUSY);
}

/** Resident memory on Linux; 0 elsewhere. */
function largestRssMib(processes: ParleyProcess[]): number {
  const sizes = processes.map(({ pid }) => {
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1_024;
    } catch {
      return 0;
    }
  });
  return Math.max(0, ...sizes);
}
