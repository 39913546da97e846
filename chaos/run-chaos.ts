import type { Redis } from 'ioredis';
import { seededRandom } from '../test/support/seeded-random.ts';
import { drain, leftovers, ofOneServer, openStore, readRecords, type Leftovers } from './drain.ts';
import { readAllTraces } from './judge-traces.ts';
import { readLinks, type LinkTable } from './judge-links.ts';
import { NewUsers } from './new-users.ts';
import type { Ledger, SentEvent } from './ledger.ts';
import type { RedisInstance } from './redis-instance.ts';
import { planAdversaries } from './adversaries.ts';
import { planFaults, type AskedCounts, type ScheduledFault } from './schedule.ts';
import { planSlowFaults } from './slow-schedule.ts';
import { SlackUsers, statusesInSlack, visibleInSlack } from './slack-users.ts';
import { injectFaults, type StopResult } from './inject-faults.ts';
import { runTraffic, type TrafficOptions } from './traffic.ts';
import { ConnectedWecomUsers, type ConnectionFigures } from './connected-wecom-users.ts';
import { WecomUsers } from './wecom-users.ts';
import { SLACK_SECRET, startTestbed, type Testbed, type TestbedOptions } from './testbed.ts';

export interface ChaosOptions {
  seed: string;
  /** Duration of the load. */
  loadMs: number;
  /** Number of load periods, each followed by a rest. Defaults to 1. */
  rounds?: number;
  /** Called once before the first load, and after each one when everything is answered. */
  atRest?: RestCheck;
  /** Called at the very end, after all data for the verdict was read. */
  atEnd?: RestCheck;
  ratePerSec: number;
  killsPerMinute: number;
  /** Rate of slow-dependency faults beside the kills; there are no rolling restarts then. */
  slowFaultsPerMinute?: number;
  /** Minimum numbers of some faults. */
  asked?: AskedCounts;
  instances: TestbedOptions['instances'];
  freezeMs: number;
  /**
   * Whether everyone has to sign in. Then there are no messages in groups, where a question is not kept until its sender
   * signs in.
   */
  signsIn?: boolean;
  /** Number of people. Defaults to the number that the rate requires. */
  users?: number;
  /** Maximum duration of an orderly stop under slow dependencies. */
  stopLimitMs?: number;
  /** Maximum time after the load until the system is idle. Defaults to two minutes. */
  drainLimitMs?: number;
  chatFails: TestbedOptions['chatFails'];
  isConnected?: boolean;
  wordEveryMs?: number;
  answerMs?: TestbedOptions['answerMs'];
  isHostile?: boolean;
  /** Concurrent calls that a full engine still accepts. Defaults to 4. */
  enginePlaces?: number;
  /** Rate of external adversities beside our own failures; the engine then also uses many dialects. */
  adversariesPerMinute?: number;
  /** One of this many questions on Slack has a file. Defaults to none. */
  filesOneIn?: number;
  clocksStep?: boolean;
  startRedis?: () => Promise<RedisInstance>;
  settings?: Record<string, string>;
  /** Faults to inject instead of a random plan. */
  faults?: ScheduledFault[];
  /** Ends the load early as soon as it returns true. */
  isEnough?(ledger: Ledger): boolean;
  /**
   * Whether platforms close their connection after each call, so that an idle receiver has none; otherwise they keep them.
   */
  platformsHangUp?: true;
  logFolder?: string;
  /** Called every few seconds with the progress. */
  tell?(line: string): void;
}

/** Inspects the idle product. @param store the testbed's own connection to Redis */
export type RestCheck = (testbed: Testbed, store: Redis) => Promise<void>;

/** All results of a run, for the verdict. */
export interface ChaosRun {
  ledger: Ledger;
  stops: StopResult[];
  endedByThemselves: string[];
  leftovers: Leftovers;
  /** People who signed in, and the final link table; absent if sign-in is off. */
  links?: { linked: ReadonlyMap<number, SentEvent>; table: LinkTable };
  /** Statistics of the bot's single connection, if WeCom delivers over it. */
  connection?: ConnectionFigures;
  /** Maximum duration of an orderly stop. Defaults to the testbed's grace period and two seconds. Milliseconds. */
  stopLimitMs?: number;
  /** From the end of the load until nothing waited any more; undefined if something still did. Milliseconds. */
  drainedAfterMs: number | undefined;
}

/** A stalled model call is given up after 60 s; a poison turn waits for others; a dead worker is detected after 15 s. */
const DRAIN_LIMIT_MS = 150_000;
const TELL_EVERY_MS = 10_000;

/** Runs the whole product under load and faults, then waits until it is idle. Does not judge the results. */
export async function runChaos(options: ChaosOptions): Promise<ChaosRun> {
  const { seed, tell, rounds = 1, atRest } = options;
  const testbed = await startTestbed({ ...options, isOdd: options.adversariesPerMinute !== undefined });
  const store = openStore(testbed);
  let isOver = false;
  const stops: StopResult[] = [];
  const telling = setInterval(() => tell?.(describeProgress(testbed)), TELL_EVERY_MS);
  try {
    tell?.(`Redis listens on ${testbed.redis.port}`);
    await untilUp(testbed);
    await atRest?.(testbed, ofOneServer(store));
    const { gateway, ledger } = testbed;
    const moreHeaders: Record<string, string> = options.platformsHangUp ? { connection: 'close' } : {};
    const told = { messages: ledger.messages, isOver: () => isOver };
    const { connections } = testbed;
    const connected =
      connections &&
      new ConnectedWecomUsers({
        connections,
        ...told,
        refusalOf: (conversation) => testbed.refusals.ofWecom(conversation),
      });
    const wecom = connected ?? new WecomUsers({ gateway, moreHeaders, ...testbed.wecom, ...told });
    const { files, fileFacts } = testbed.slack;
    const { filesOneIn: oneIn } = options;
    const sharing = oneIn === undefined ? undefined : { files, fileFacts, oneIn };
    const toSlack = { gateway, moreHeaders, sharing, sockets: testbed.sockets };
    const slack = new SlackUsers({ ...toSlack, signingSecret: SLACK_SECRET });
    const platforms = {
      wecom: (event: SentEvent) => wecom.send(event),
      slack: (event: SentEvent) => slack.send(event),
    };
    const newUsers = options.signsIn
      ? new NewUsers({ ledger, messages: () => allMessages(testbed), send: platforms })
      : undefined;
    const send = newUsers
      ? { wecom: (event: SentEvent) => newUsers.send(event), slack: (event: SentEvent) => newUsers.send(event) }
      : platforms;
    let drainedAfterMs: number | undefined;
    for (let round = 0; round < rounds; round += 1) {
      testbed.chat.behave(false);
      await load(testbed, { ...options, seed: round === 0 ? seed : `${seed} ${round}` }, { send, stops });
      await newUsers?.settled();
      testbed.chat.behave(true);
      const restAtMs = Date.now();
      const isAtRest = () => allShown(ledger.events, allMessages(testbed));
      const isDrained = await drain(store, isAtRest, options.drainLimitMs ?? DRAIN_LIMIT_MS);
      drainedAfterMs = isDrained ? Date.now() - restAtMs : undefined;
      await atRest?.(testbed, ofOneServer(store));
    }
    await readRecords(store, ledger.events);
    await readAllTraces(store, ledger.events);
    const connection = connected?.conclude();
    const { endedByThemselves } = testbed;
    const run: ChaosRun = {
      ledger: {
        ...ledger,
        messages: allMessages(testbed),
        statusesLeft: statusesInSlack(testbed.slack.statuses(), ledger.events),
      },
      stops,
      endedByThemselves,
      leftovers: await leftovers(store),
      drainedAfterMs,
      ...(connection ? { connection } : {}),
      ...(options.stopLimitMs === undefined ? {} : { stopLimitMs: options.stopLimitMs }),
      ...(newUsers ? { links: { linked: newUsers.linked, table: await readLinks(ofOneServer(store)) } } : {}),
    };
    await options.atEnd?.(testbed, ofOneServer(store));
    return run;
  } finally {
    isOver = true;
    clearInterval(telling);
    store.disconnect();
    await testbed.close();
  }
}

/** Runs traffic and faults concurrently, until both have ended. */
async function load(
  testbed: Testbed,
  options: ChaosOptions,
  { send, stops }: { send: TrafficOptions['send']; stops: StopResult[] },
): Promise<void> {
  const { seed, loadMs, ratePerSec, killsPerMinute, freezeMs, asked } = options;
  const plan = { loadMs, killsPerMinute, freezeMs, ...(asked ? { asked } : {}) };
  const faults = options.faults ?? [
    ...planFaults({ random: seededRandom(`${seed} faults`), ...plan }),
    ...planSlowness(options),
  ];
  const adversaries = planAdversaries({
    random: seededRandom(`${seed} adversaries`),
    loadMs,
    perMinute: options.adversariesPerMinute ?? 0,
    places: options.enginePlaces ?? 4,
  });
  const { ledger } = testbed;
  await Promise.all([
    runTraffic({
      ledger,
      random: seededRandom(`${seed} traffic`),
      ratePerSec,
      loadMs,
      ...(options.users === undefined ? {} : { users: options.users }),
      ...(options.signsIn ? { takesPart: isPrivate } : {}),
      isEnough: () => options.isEnough?.(ledger) ?? false,
      send,
    }),
    injectFaults({
      testbed,
      random: seededRandom(`${seed} targets`),
      faults: inOrder([...faults, ...adversaries]),
      stops,
      loadMs,
    }),
  ]);
}

function inOrder(faults: readonly ScheduledFault[]): ScheduledFault[] {
  return [...faults].sort((left, right) => left.atMs - right.atMs);
}

function planSlowness({ seed, loadMs, slowFaultsPerMinute = 0 }: ChaosOptions): ScheduledFault[] {
  const random = seededRandom(`${seed} slow`);
  return planSlowFaults({ random, loadMs, faultsPerMinute: slowFaultsPerMinute }).filter(
    ({ fault }) => fault.kind !== 'roll',
  );
}

function isPrivate(conversation: number): boolean {
  return conversation % 8 > 1;
}

async function untilUp({ instances, endedByThemselves }: Testbed): Promise<void> {
  const giveUpAtMs = Date.now() + 60_000;
  while (instances.some(({ process }) => process.state !== 'up')) {
    const fault =
      endedByThemselves[0] ?? (Date.now() > giveUpAtMs ? 'not all processes came up within 60 s' : undefined);
    if (fault !== undefined) throw new Error(fault);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** WeCom's messages, as seen by the polls, and Slack's. */
function allMessages({ ledger, slack }: Testbed): Ledger['messages'] {
  return [...ledger.messages, ...visibleInSlack(slack.messages, ledger.events)];
}

function allShown(events: readonly SentEvent[], messages: Ledger['messages']): boolean {
  const ended = new Set(messages.filter(({ isFinal }) => isFinal).map(({ event }) => event));
  if (messages.some(({ isOpen }) => isOpen === true)) return false;
  return events.every(
    ({ id, platform, acknowledgedAtMs }) => platform === 'slack' || acknowledgedAtMs === undefined || ended.has(id),
  );
}

function describeProgress({ ledger, instances }: Testbed): string {
  const acknowledged = ledger.events.filter(({ acknowledgedAtMs }) => acknowledgedAtMs !== undefined).length;
  const open = ledger.samplings.filter(({ ending }) => ending === 'open').length;
  const states = instances.map(({ process }) => `${process.name} ${process.state}`).join(', ');
  return `${ledger.events.length} sent, ${acknowledged} acknowledged, ${ledger.injectedFaults.length} injected faults, ${open} calls open; ${states}`;
}
