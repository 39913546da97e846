import { setTimeout as pause } from 'node:timers/promises';
import type { SeededRandom } from '../test/support/seeded-random.ts';
import { startRival } from '../test/support/raw-wecom-connections.ts';
import { killReaders } from './kill-readers.ts';
import type { InjectedFault } from './ledger.ts';
import { isUnused, openStore } from './drain.ts';
import type { Fault, ScheduledFault } from './schedule.ts';
import type { Instance, Testbed } from './testbed.ts';

/** Result of an orderly stop. */
export interface StopResult {
  instance: string;
  code: number | null;
  tookMs: number;
}

export interface InjectOptions {
  testbed: Testbed;
  random: SeededRandom;
  faults: ScheduledFault[];
  stops: StopResult[];
  /** Total duration; a freeze that a kill cut short is repeated until then. */
  loadMs: number;
}

interface Injection extends InjectOptions {
  endsAtMs: number;
  /** Ends with the last repeated freeze. Repeats at the same time would freeze most workers most of the time. */
  repeated: Promise<void>;
}

/** Injects the planned faults at their times. @returns once every fault has ended and all processes are running again */
export async function injectFaults(options: InjectOptions): Promise<void> {
  const startedAtMs = Date.now();
  const under: Promise<void>[] = [];
  const injection: Injection = { ...options, endsAtMs: startedAtMs + options.loadMs, repeated: Promise.resolve() };
  for (const { atMs, fault } of options.faults) {
    const leftMs = startedAtMs + atMs - Date.now();
    if (leftMs > 0) await pause(leftMs);
    under.push(injectFault(injection, fault));
  }
  await Promise.all(under);
}

async function injectFault(options: Injection, fault: Fault): Promise<void> {
  switch (fault.kind) {
    case 'redis-kill':
    case 'redis-freeze':
    case 'redis-refuse':
    case 'slack-late':
      return injectIntoSurroundings(options, fault);
    case 'refuse-writes':
    case 'engine-full':
    case 'poison':
    case 'kill-readers':
    case 'rival':
      return bringAdversary(options.testbed, fault);
    case 'retire':
      return retire(options, fault);
    case 'roll':
      return roll(options, fault);
    case 'act': {
      const injectedFault = noteInjectedFault(options.testbed, 'act', { target: 'deployment', detail: fault.name });
      await fault.act(options.testbed);
      injectedFault.untilMs = Date.now();
      return;
    }
    case 'kill':
    case 'freeze':
    case 'sleep':
    case 'clock':
    case 'stop':
    case 'link':
      return injectIntoInstance(options, fault);
  }
}

/** Records each fault when it begins. */
export function noteInjectedFault(
  { ledger }: Testbed,
  kind: InjectedFault['kind'],
  { target, detail = '' }: { target: string; detail?: string },
): InjectedFault {
  const injectedFault: InjectedFault = { atMs: Date.now(), kind, target, detail };
  ledger.injectedFaults.push(injectedFault);
  return injectedFault;
}

/** Faults of what all processes share. */
async function injectIntoSurroundings(
  { testbed, random }: InjectOptions,
  fault: Extract<Fault, { kind: `redis-${string}` | 'slack-late' }>,
): Promise<void> {
  const { redis, slack } = testbed;
  if (fault.kind === 'redis-freeze') {
    const injectedFault = noteInjectedFault(testbed, fault.kind, { target: 'redis', detail: `${fault.forMs} ms` });
    await redis.freeze(fault.forMs);
    injectedFault.untilMs = Date.now();
  } else if (fault.kind === 'redis-kill') {
    const injectedFault = noteInjectedFault(testbed, fault.kind, { target: 'redis' });
    await redis.killAndRestart(fault.awayMs);
    injectedFault.untilMs = Date.now();
  } else if (fault.kind === 'redis-refuse') {
    const injectedFault = noteInjectedFault(testbed, fault.kind, { target: 'redis', detail: fault.why });
    await redis.refuse(fault.why, fault.forMs);
    injectedFault.untilMs = Date.now();
  } else {
    const injectedFault = noteInjectedFault(testbed, fault.kind, {
      target: 'slack',
      detail: `up to ${fault.uptoMs} ms`,
    });
    slack.meet(() => ({ kind: 'late', afterMs: random.integer(100, fault.uptoMs), isAnswered: !random.oneIn(2) }));
    await pause(fault.forMs);
    slack.meet(() => undefined);
    // Calls from the very end may be executed this much later.
    injectedFault.untilMs = Date.now() + fault.uptoMs;
  }
}

type Adversary = Extract<Fault, { kind: 'refuse-writes' | 'engine-full' | 'poison' | 'kill-readers' | 'rival' }>;

/** Adversities from outside. */
async function bringAdversary(testbed: Testbed, fault: Adversary): Promise<void> {
  const { chat, refusals, poison, instances, connections } = testbed;
  if (fault.kind === 'rival' && !connections) return;
  const detail = 'forMs' in fault ? `${fault.forMs} ms` : '';
  const injectedFault = noteInjectedFault(testbed, fault.kind, { target: 'surroundings', detail });
  switch (fault.kind) {
    case 'poison':
      return poison.add();
    case 'refuse-writes':
      refusals.refuseWrites(true);
      await pause(fault.forMs);
      refusals.refuseWrites(false);
      break;
    case 'engine-full':
      chat.limitTo(fault.places);
      await pause(fault.forMs);
      chat.limitTo(undefined);
      break;
    case 'kill-readers': {
      const workers = () =>
        instances.filter(({ role }) => role === 'worker').flatMap(({ process: { pid } }) => pid ?? []);
      injectedFault.detail += `, ${await killReaders(workers, fault.forMs)} readers`;
      break;
    }
    case 'rival': {
      const rival = await startRival(connections?.url ?? '');
      await pause(fault.forMs);
      rival.leave();
    }
  }
  injectedFault.untilMs = Date.now();
}

async function retire({ testbed, stops }: InjectOptions, fault: Extract<Fault, { kind: 'retire' }>): Promise<void> {
  const { moment = () => true } = fault;
  for (let waitedMs = 0; !moment(testbed.ledger) && waitedMs < MOMENT_WITHIN_MS; waitedMs += 20) await pause(20);
  const retired = testbed.instances.find(({ process }) => process.name === fault.instance)?.process;
  noteInjectedFault(testbed, 'stop', { target: retired?.life ?? '', detail: 'for good' });
  const result = await retired?.retire();
  if (result) stops.push({ instance: fault.instance, ...result });
}

async function roll({ testbed, stops }: InjectOptions, { change }: Extract<Fault, { kind: 'roll' }>): Promise<void> {
  await testbed.rolls.inTurn(async () => {
    const made = change === 'drop-old-key' && !(await isOldKeyUnusedInTime(testbed)) ? 'nothing' : change;
    const injectedFault = noteInjectedFault(testbed, 'roll', { target: 'deployment', detail: made });
    stops.push(...(await restartAll(testbed, { env: testbed.rolls.settingsFor(made) })));
    injectedFault.untilMs = Date.now();
  });
}

export interface Restart {
  env?: Record<string, string>;
  main?: string;
}

/**
 * Stops one process after another in order and waits until its next life is running, with new settings or another build.
 * @returns the results of the stops
 */
export async function restartAll(testbed: Testbed, change: Restart): Promise<StopResult[]> {
  const stops: StopResult[] = [];
  for (const { process } of testbed.instances) {
    await untilUp(process);
    process.change(change);
    const injectedFault = noteInjectedFault(testbed, 'stop', { target: process.life });
    const result = await process.stop();
    await untilUp(process);
    injectedFault.untilMs = Date.now();
    if (result) stops.push({ instance: process.name, ...result });
  }
  return stops;
}

async function untilUp(process: Instance['process']): Promise<void> {
  for (let waitedMs = 0; process.state !== 'up' && waitedMs < UP_WITHIN_MS; waitedMs += 50) await pause(50);
}

/** Removing a key while waiting records need it is an operator error; it has a separate scenario and test. */
async function isOldKeyUnusedInTime(testbed: Testbed): Promise<boolean> {
  const { oldKeyId } = testbed.rolls;
  const store = openStore(testbed);
  const giveUpAtMs = Date.now() + OLD_KEY_UNUSED_WITHIN_MS;
  const isFree = async () => oldKeyId === undefined || (await isUnused(store, oldKeyId));
  let isIt = await isFree();
  for (; !isIt && Date.now() < giveUpAtMs; isIt = await isFree()) await pause(1_000);
  store.disconnect();
  return isIt;
}

const UP_WITHIN_MS = 60_000;
const OLD_KEY_UNUSED_WITHIN_MS = 240_000;

type InstanceFault = Extract<Fault, { role: unknown }>;

type FreezeFault = Extract<Fault, { kind: 'freeze' }>;

function repeatFreeze(injection: Injection, fault: FreezeFault): Promise<void> {
  injection.repeated = injection.repeated.then(async () => {
    while (Date.now() <= injection.endsAtMs) {
      const instance = await choose(injection.random, injection.testbed.instances, fault);
      if (!instance || (await freeze(injection.testbed, instance, fault))) return;
    }
  });
  return injection.repeated;
}

/** @returns whether the process survived it */
async function freeze(testbed: Testbed, { process }: Instance, { forMs }: FreezeFault): Promise<boolean> {
  const injectedFault = noteInjectedFault(testbed, 'freeze', { target: process.life, detail: `${forMs} ms` });
  const isWhole = await process.freeze(forMs);
  if (isWhole) injectedFault.untilMs = Date.now();
  return isWhole;
}

async function injectIntoInstance(options: Injection, fault: InstanceFault): Promise<void> {
  const { testbed, random, stops } = options;
  const instance = await choose(random, testbed.instances, fault);
  if (!instance) return;
  const { process, links } = instance;
  const note = (detail = '', target = process.life) => noteInjectedFault(testbed, fault.kind, { target, detail });
  switch (fault.kind) {
    case 'kill':
      note();
      return process.kill();
    case 'freeze':
      return (await freeze(testbed, instance, fault)) ? undefined : repeatFreeze(options, fault);
    case 'sleep': {
      const injectedFault = note(`${fault.forMs} ms, ${fault.offByMs} ms on`);
      // It learns the new time when it resumes.
      const asleep = process.freeze(fault.forMs);
      process.setClock(fault.offByMs);
      await asleep;
      injectedFault.untilMs = Date.now();
      // Later a time server corrects the clock.
      await pause(CLOCK_SET_RIGHT_AFTER_MS);
      return process.setClock(0);
    }
    case 'clock': {
      const injectedFault = note(`${fault.offByMs} ms`);
      process.setClock(fault.offByMs);
      await pause(fault.forMs);
      process.setClock(0);
      injectedFault.untilMs = Date.now();
      return;
    }
    case 'stop': {
      note();
      const result = await process.stop();
      if (result) stops.push({ instance: process.name, ...result });
      return;
    }
    case 'link': {
      const injectedFault = note(JSON.stringify(fault.fault), `${process.life} ${fault.link}`);
      links[fault.link].breakWith(fault.fault);
      await pause(fault.forMs);
      links[fault.link].mend();
      // Calls that were delayed are still under way.
      injectedFault.untilMs = Date.now() + (fault.fault.kind === 'delay' ? fault.fault.delayMs : 0);
    }
  }
}

const CLOCK_SET_RIGHT_AFTER_MS = 5_000;
/** Maximum time that a fault waits for a suitable moment; then it is injected anyway. */
const MOMENT_WITHIN_MS = 50_000;
/** Maximum time that a fault waits until another process of the role is running; then it is skipped. */
const WAITS_MS = 20_000;

/**
 * Watched processes only lose links, and are never killed. A kill may hit a frozen process. One process of each role is left
 * running, because without any there is nothing to observe.
 */
async function choose(
  random: SeededRandom,
  instances: Instance[],
  fault: InstanceFault,
): Promise<Instance | undefined> {
  const giveUpAtMs = Date.now() + WAITS_MS;
  for (;;) {
    const ofRole = instances.filter(({ role }) => role === fault.role);
    const standing = ofRole.filter(({ process }) => process.state === 'up');
    const fit = ofRole.filter(
      ({ process: { state }, isWatched }) =>
        !(isWatched && fault.kind !== 'link') && (state === 'up' || (fault.kind === 'kill' && state === 'frozen')),
    );
    const chosen = random.shuffle(fit)[0];
    if (chosen && standing.some((other) => other !== chosen)) return chosen;
    if (Date.now() > giveUpAtMs) return undefined;
    await pause(100);
  }
}
