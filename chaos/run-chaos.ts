import type { Redis } from 'ioredis';
import { seededRandom } from '../test/support/seeded-random.ts';
import { drain, leftovers, openStore, readRecords, type Leftovers } from './drain.ts';
import { readLinks, type LinkTable } from './judge-links.ts';
import { Newcomers } from './newcomers.ts';
import type { Ledger, SentEvent } from './ledger.ts';
import type { RedisPart } from './redis-part.ts';
import { planFaults, type AskedCounts, type ScheduledFault } from './schedule.ts';
import { planSlowFaults } from './slow-schedule.ts';
import { SlackPeople, statusesInSlack, visibleInSlack } from './slack-people.ts';
import { strike, type StopResult } from './strike.ts';
import { runTraffic, type TrafficOptions } from './traffic.ts';
import { WecomPeople } from './wecom-people.ts';
import { SLACK_SECRET, startWorld, type World, type WorldOptions } from './world.ts';

export interface ChaosOptions {
  seed: string;
  /** How long the load lasts. */
  loadMs: number;
  /** So often the load comes, with a rest after each. Once unless told. */
  rounds?: number;
  /** Told once before the first load, and after each once all is answered. */
  atRest?: RestLook;
  /** Told at the very end, when everything that is to be judged has been read. */
  atEnd?: RestLook;
  ratePerSec: number;
  killsPerMinute: number;
  /** Slowness beside the kills, so often; no process is restarted in turn then. */
  slowBlowsPerMinute?: number;
  /** What there must be at least of some faults. */
  asked?: AskedCounts;
  parts: WorldOptions['parts'];
  freezeMs: number;
  /** Whether everybody has to sign in; then nobody writes in groups, where a question is not kept until its sender signs in. */
  signsIn?: boolean;
  /** How many people write; as many as the rate needs unless told. */
  people?: number;
  /** How long an orderly stop may take, where it is slowed down. */
  stopLimitMs?: number;
  /** How long after the load all may take to come to rest; two minutes unless told. */
  drainLimitMs?: number;
  chatFails: WorldOptions['chatFails'];
  wordEveryMs?: number;
  answerMs?: WorldOptions['answerMs'];
  isHostile?: boolean;
  clocksStep?: boolean;
  startRedis?: () => Promise<RedisPart>;
  settings?: Record<string, string>;
  /** Faults to deal instead of a seeded plan. */
  faults?: ScheduledFault[];
  /** Ends the load early, once it is true. */
  isEnough?(ledger: Ledger): boolean;
  /** Whether platforms close each connection after a call, so that a receiver at rest holds none; else they keep them. */
  platformsHangUp?: true;
  logFolder?: string;
  /** Told once a few seconds how it goes. */
  tell?(line: string): void;
}

/** Looks at the product while it rests. @param store the rig's own connection to Redis */
export type RestLook = (world: World, store: Redis) => Promise<void>;

/** All that a run left behind, to be judged. */
export interface ChaosRun {
  ledger: Ledger;
  stops: StopResult[];
  endedByThemselves: string[];
  leftovers: Leftovers;
  /** Who signed in, and the link table at the end; absent when sign-in is off. */
  links?: { linked: ReadonlyMap<number, SentEvent>; table: LinkTable };
  /** How long an orderly stop may take; unless told, the rig's grace and two seconds. Milliseconds. */
  stopLimitMs?: number;
  /** From the end of the load until nothing waited any more; undefined when something still did. Milliseconds. */
  drainedAfterMs: number | undefined;
}

/** A stalled model call is given up after 30 s; a suspect waits for others; a dead worker is noticed after 15 s. */
const DRAIN_LIMIT_MS = 120_000;
const TELL_EVERY_MS = 10_000;

/** Runs the whole product under load and faults, then lets it come to rest. Nothing is judged here. */
export async function runChaos(options: ChaosOptions): Promise<ChaosRun> {
  const { seed, tell, rounds = 1, atRest } = options;
  const world = await startWorld(options);
  const store = openStore(world);
  let isOver = false;
  const stops: StopResult[] = [];
  const telling = setInterval(() => tell?.(describeProgress(world)), TELL_EVERY_MS);
  try {
    tell?.(`Redis listens on ${world.redis.port}`);
    await untilUp(world);
    await atRest?.(world, store);
    const { gateway, ledger } = world;
    const moreHeaders: Record<string, string> = options.platformsHangUp ? { connection: 'close' } : {};
    const wecom = new WecomPeople({
      gateway,
      moreHeaders,
      ...world.wecom,
      messages: ledger.messages,
      isOver: () => isOver,
    });
    const slack = new SlackPeople({ gateway, moreHeaders, signingSecret: SLACK_SECRET });
    const platforms = {
      wecom: (event: SentEvent) => wecom.send(event),
      slack: (event: SentEvent) => slack.send(event),
    };
    const newcomers = options.signsIn
      ? new Newcomers({ ledger, messages: () => allMessages(world), send: platforms })
      : undefined;
    const send = newcomers
      ? { wecom: (event: SentEvent) => newcomers.send(event), slack: (event: SentEvent) => newcomers.send(event) }
      : platforms;
    let drainedAfterMs: number | undefined;
    for (let round = 0; round < rounds; round += 1) {
      world.chat.behave(false);
      await load(world, { ...options, seed: round === 0 ? seed : `${seed} ${round}` }, { send, stops });
      await newcomers?.settled();
      world.chat.behave(true);
      const restAtMs = Date.now();
      const isAtRest = () => allShown(ledger.events, allMessages(world));
      const isDrained = await drain(store, isAtRest, options.drainLimitMs ?? DRAIN_LIMIT_MS);
      drainedAfterMs = isDrained ? Date.now() - restAtMs : undefined;
      await atRest?.(world, store);
    }
    await readRecords(store, ledger.events);
    const { endedByThemselves } = world;
    const run: ChaosRun = {
      ledger: {
        ...ledger,
        messages: allMessages(world),
        statusesLeft: statusesInSlack(world.slack.statuses(), ledger.events),
      },
      stops,
      endedByThemselves,
      leftovers: await leftovers(store),
      drainedAfterMs,
      ...(options.stopLimitMs === undefined ? {} : { stopLimitMs: options.stopLimitMs }),
      ...(newcomers ? { links: { linked: newcomers.linked, table: await readLinks(store) } } : {}),
    };
    await options.atEnd?.(world, store);
    return run;
  } finally {
    isOver = true;
    clearInterval(telling);
    store.disconnect();
    await world.close();
  }
}

/** Traffic and faults at once, until both are over. */
async function load(
  world: World,
  options: ChaosOptions,
  { send, stops }: { send: TrafficOptions['send']; stops: StopResult[] },
): Promise<void> {
  const { seed, loadMs, ratePerSec, killsPerMinute, freezeMs, asked } = options;
  const plan = { loadMs, killsPerMinute, freezeMs, ...(asked ? { asked } : {}) };
  const faults = options.faults ?? [
    ...planFaults({ random: seededRandom(`${seed} faults`), ...plan }),
    ...planSlowness(options),
  ];
  const { ledger } = world;
  await Promise.all([
    runTraffic({
      ledger,
      random: seededRandom(`${seed} traffic`),
      ratePerSec,
      loadMs,
      ...(options.people === undefined ? {} : { people: options.people }),
      ...(options.signsIn ? { takesPart: isPrivate } : {}),
      isEnough: () => options.isEnough?.(ledger) ?? false,
      send,
    }),
    strike({ world, random: seededRandom(`${seed} targets`), faults: inOrder(faults), stops, loadMs }),
  ]);
}

function inOrder(faults: readonly ScheduledFault[]): ScheduledFault[] {
  return [...faults].sort((left, right) => left.atMs - right.atMs);
}

function planSlowness({ seed, loadMs, slowBlowsPerMinute = 0 }: ChaosOptions): ScheduledFault[] {
  const random = seededRandom(`${seed} slow`);
  return planSlowFaults({ random, loadMs, blowsPerMinute: slowBlowsPerMinute }).filter(
    ({ fault }) => fault.kind !== 'roll',
  );
}

function isPrivate(conversation: number): boolean {
  return conversation % 8 > 1;
}

async function untilUp({ parts, endedByThemselves }: World): Promise<void> {
  const giveUpAtMs = Date.now() + 60_000;
  while (parts.some(({ process }) => process.state !== 'up')) {
    const fault =
      endedByThemselves[0] ?? (Date.now() > giveUpAtMs ? 'not all processes came up within 60 s' : undefined);
    if (fault !== undefined) throw new Error(fault);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** WeCom's messages, as the polls saw them, and Slack's. */
function allMessages({ ledger, slack }: World): Ledger['messages'] {
  return [...ledger.messages, ...visibleInSlack(slack.messages, ledger.events)];
}

function allShown(events: readonly SentEvent[], messages: Ledger['messages']): boolean {
  const ended = new Set(messages.filter(({ isFinal }) => isFinal).map(({ event }) => event));
  if (messages.some(({ isOpen }) => isOpen === true)) return false;
  return events.every(
    ({ id, platform, acknowledgedAtMs }) => platform === 'slack' || acknowledgedAtMs === undefined || ended.has(id),
  );
}

function describeProgress({ ledger, parts }: World): string {
  const acknowledged = ledger.events.filter(({ acknowledgedAtMs }) => acknowledgedAtMs !== undefined).length;
  const open = ledger.samplings.filter(({ ending }) => ending === 'open').length;
  const states = parts.map(({ process }) => `${process.name} ${process.state}`).join(', ');
  return `${ledger.events.length} sent, ${acknowledged} acknowledged, ${ledger.blows.length} blows, ${open} calls open; ${states}`;
}
