import { seededRandom } from '../test/support/seeded-random.ts';
import { drain, leftovers, openStore, readRecords, type Leftovers } from './drain.ts';
import type { Ledger, SentEvent } from './ledger.ts';
import { planFaults, type AskedCounts, type ScheduledFault } from './schedule.ts';
import { SlackPeople, visibleInSlack } from './slack-people.ts';
import { strike, type StopResult } from './strike.ts';
import { runTraffic } from './traffic.ts';
import { WecomPeople } from './wecom-people.ts';
import { SLACK_SECRET, startWorld, type World, type WorldOptions } from './world.ts';

export interface ChaosOptions {
  seed: string;
  loadMs: number;
  ratePerSec: number;
  killsPerMinute: number;
  /** What there must be at least of some faults. */
  asked?: AskedCounts;
  parts: WorldOptions['parts'];
  freezeMs: number;
  chatFails: WorldOptions['chatFails'];
  /** Faults to deal instead of a seeded plan. */
  faults?: ScheduledFault[];
  /** Ends the load early, once it is true. */
  isEnough?(ledger: Ledger): boolean;
  logFolder?: string;
  /** Told once a few seconds how it goes. */
  tell?(line: string): void;
}

/** All that a run left behind, to be judged. */
export interface ChaosRun {
  ledger: Ledger;
  stops: StopResult[];
  endedByThemselves: string[];
  leftovers: Leftovers;
  /** From the end of the load until nothing waited any more; undefined when something still did. Milliseconds. */
  drainedAfterMs: number | undefined;
}

/** A stalled model call is given up after 30 s; a suspect waits for others; a dead worker is noticed after 15 s. */
const DRAIN_LIMIT_MS = 120_000;
const TELL_EVERY_MS = 10_000;

/** Runs the whole product under load and faults, then lets it come to rest. Nothing is judged here. */
export async function runChaos(options: ChaosOptions): Promise<ChaosRun> {
  const { seed, loadMs, killsPerMinute, freezeMs, ratePerSec, tell } = options;
  const world = await startWorld(options);
  const store = openStore(world);
  let isOver = false;
  const stops: StopResult[] = [];
  const telling = setInterval(() => tell?.(describeProgress(world)), TELL_EVERY_MS);
  try {
    tell?.(`Redis listens on ${world.redis.port}`);
    await untilUp(world);
    const { gateway, ledger } = world;
    const wecom = new WecomPeople({ gateway, ...world.wecom, messages: ledger.messages, isOver: () => isOver });
    const slack = new SlackPeople({ gateway, signingSecret: SLACK_SECRET });
    const faults =
      options.faults ??
      planFaults({
        random: seededRandom(`${seed} faults`),
        ...{ loadMs, killsPerMinute, freezeMs },
        ...(options.asked ? { asked: options.asked } : {}),
      });
    await Promise.all([
      runTraffic({
        ledger,
        random: seededRandom(`${seed} traffic`),
        ratePerSec,
        loadMs,
        isEnough: () => options.isEnough?.(ledger) ?? false,
        send: { wecom: (event) => wecom.send(event), slack: (event) => slack.send(event) },
      }),
      strike({ world, random: seededRandom(`${seed} targets`), faults, stops, loadMs }),
    ]);
    world.chat.behave();
    const restAtMs = Date.now();
    const isDrained = await drain(store, () => allShown(ledger.events, allMessages(world)), DRAIN_LIMIT_MS);
    const drainedAfterMs = isDrained ? Date.now() - restAtMs : undefined;
    await readRecords(store, ledger.events);
    const { endedByThemselves } = world;
    return {
      ledger: { ...ledger, messages: allMessages(world) },
      stops,
      endedByThemselves,
      leftovers: await leftovers(store),
      drainedAfterMs,
    };
  } finally {
    isOver = true;
    clearInterval(telling);
    store.disconnect();
    await world.close();
  }
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
