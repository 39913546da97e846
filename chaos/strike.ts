import { setTimeout as pause } from 'node:timers/promises';
import type { SeededRandom } from '../test/support/seeded-random.ts';
import type { Blow } from './ledger.ts';
import { isUnused, openStore } from './drain.ts';
import { restartAll } from './rolling.ts';
import type { Fault, ScheduledFault } from './schedule.ts';
import type { Part, World } from './world.ts';

/** An orderly stop as it went. */
export interface StopResult {
  part: string;
  code: number | null;
  tookMs: number;
}

export interface StrikeOptions {
  world: World;
  random: SeededRandom;
  faults: ScheduledFault[];
  stops: StopResult[];
  /** From the beginning on; a freeze that a kill cut short is repeated until then. */
  loadMs: number;
}

/** Carries out the planned faults at their times. @returns once every fault is over and all stand again */
export async function strike(options: StrikeOptions): Promise<void> {
  const startedAtMs = Date.now();
  const under: Promise<void>[] = [];
  for (const { atMs, fault } of options.faults) {
    const leftMs = startedAtMs + atMs - Date.now();
    if (leftMs > 0) await pause(leftMs);
    under.push(strikeOnce(options, fault, startedAtMs + options.loadMs));
  }
  await Promise.all(under);
}

async function strikeOnce(options: StrikeOptions, fault: Fault, endsAtMs: number): Promise<void> {
  switch (fault.kind) {
    case 'redis-kill':
    case 'redis-freeze':
    case 'redis-refuse':
    case 'slack-late':
      return strikeSurroundings(options, fault);
    case 'retire':
      return retire(options, fault);
    case 'roll':
      return roll(options, fault);
    case 'act': {
      const blow = noteBlow(options.world, 'act', { target: 'deployment', detail: fault.name });
      await fault.act(options.world);
      blow.untilMs = Date.now();
      return;
    }
    case 'kill':
    case 'freeze':
    case 'sleep':
    case 'clock':
    case 'stop':
    case 'link':
      return strikePart(options, fault, endsAtMs);
  }
}

/** Writes down what is done, when it begins. */
export function noteBlow(
  { ledger }: World,
  kind: Blow['kind'],
  { target, detail = '' }: { target: string; detail?: string },
): Blow {
  const blow: Blow = { atMs: Date.now(), kind, target, detail };
  ledger.blows.push(blow);
  return blow;
}

/** What all processes need suffers. */
async function strikeSurroundings(
  { world, random }: StrikeOptions,
  fault: Extract<Fault, { kind: `redis-${string}` | 'slack-late' }>,
): Promise<void> {
  const { redis, slack } = world;
  if (fault.kind === 'redis-freeze') {
    const blow = noteBlow(world, fault.kind, { target: 'redis', detail: `${fault.forMs} ms` });
    await redis.freeze(fault.forMs);
    blow.untilMs = Date.now();
  } else if (fault.kind === 'redis-kill') {
    const blow = noteBlow(world, fault.kind, { target: 'redis' });
    await redis.killAndRestart(fault.awayMs);
    blow.untilMs = Date.now();
  } else if (fault.kind === 'redis-refuse') {
    const blow = noteBlow(world, fault.kind, { target: 'redis', detail: fault.why });
    await redis.refuse(fault.why, fault.forMs);
    blow.untilMs = Date.now();
  } else {
    const blow = noteBlow(world, fault.kind, { target: 'slack', detail: `up to ${fault.uptoMs} ms` });
    slack.meet(() => ({ kind: 'late', afterMs: random.integer(100, fault.uptoMs), isAnswered: !random.oneIn(2) }));
    await pause(fault.forMs);
    slack.meet(() => undefined);
    // What was called at the very end is executed so much later.
    blow.untilMs = Date.now() + fault.uptoMs;
  }
}

async function retire({ world, stops }: StrikeOptions, fault: Extract<Fault, { kind: 'retire' }>): Promise<void> {
  const { moment = () => true } = fault;
  for (let waitedMs = 0; !moment(world.ledger) && waitedMs < MOMENT_WITHIN_MS; waitedMs += 20) await pause(20);
  const retired = world.parts.find(({ process }) => process.name === fault.part)?.process;
  noteBlow(world, 'stop', { target: retired?.life ?? '', detail: 'for good' });
  const result = await retired?.retire();
  if (result) stops.push({ part: fault.part, ...result });
}

async function roll({ world, stops }: StrikeOptions, { change }: Extract<Fault, { kind: 'roll' }>): Promise<void> {
  await world.rolls.inTurn(async () => {
    if (change === 'drop-old-key') await untilOldKeyIsUnused(world);
    const blow = noteBlow(world, 'roll', { target: 'deployment', detail: change });
    stops.push(...(await restartAll(world, { env: world.rolls.settingsFor(change) })));
    blow.untilMs = Date.now();
  });
}

/** A key that goes while something waits that only it opens is a fault of the operator's; scenario and test of its own. */
async function untilOldKeyIsUnused(world: World): Promise<void> {
  const { oldKeyId } = world.rolls;
  const store = openStore(world);
  const giveUpAtMs = Date.now() + OLD_KEY_UNUSED_WITHIN_MS;
  while (oldKeyId !== undefined && Date.now() < giveUpAtMs && !(await isUnused(store, oldKeyId))) await pause(1_000);
  store.disconnect();
}

const OLD_KEY_UNUSED_WITHIN_MS = 240_000;

type PartFault = Extract<Fault, { role: unknown }>;

async function strikePart(options: StrikeOptions, fault: PartFault, endsAtMs: number): Promise<void> {
  const { world, random, stops } = options;
  const part = await choose(random, world.parts, fault);
  if (!part) return;
  const { process, links } = part;
  const note = (detail = '', target = process.life) => noteBlow(world, fault.kind, { target, detail });
  switch (fault.kind) {
    case 'kill':
      note();
      return process.kill();
    case 'freeze': {
      const blow = note(`${fault.forMs} ms`);
      const isWhole = await process.freeze(fault.forMs);
      if (isWhole) blow.untilMs = Date.now();
      return isWhole || Date.now() > endsAtMs ? undefined : strikeOnce(options, fault, endsAtMs);
    }
    case 'sleep': {
      const blow = note(`${fault.forMs} ms, ${fault.offByMs} ms on`);
      // It hears of the new time when it wakes.
      const asleep = process.freeze(fault.forMs);
      process.setClock(fault.offByMs);
      await asleep;
      blow.untilMs = Date.now();
      // As a time server sets it right, after a while.
      await pause(CLOCK_SET_RIGHT_AFTER_MS);
      return process.setClock(0);
    }
    case 'clock': {
      const blow = note(`${fault.offByMs} ms`);
      process.setClock(fault.offByMs);
      await pause(fault.forMs);
      process.setClock(0);
      blow.untilMs = Date.now();
      return;
    }
    case 'stop': {
      note();
      const result = await process.stop();
      if (result) stops.push({ part: process.name, ...result });
      return;
    }
    case 'link': {
      const blow = note(JSON.stringify(fault.fault), `${process.life} ${fault.link}`);
      links[fault.link].breakWith(fault.fault);
      await pause(fault.forMs);
      links[fault.link].mend();
      // What had set out on a long way is still under way.
      blow.untilMs = Date.now() + (fault.fault.kind === 'delay' ? fault.fault.delayMs : 0);
    }
  }
}

const CLOCK_SET_RIGHT_AFTER_MS = 5_000;
/** So long a fault waits for its moment; then it comes all the same. */
const MOMENT_WITHIN_MS = 10_000;
/** So long a fault waits for a moment at which another process of the role stands; then it is left out. */
const WAITS_MS = 20_000;

/** What is watched loses links, never its life. A kill may hit what is frozen, as in life. One of each role is left standing: with none there is nothing to be seen. */
async function choose(random: SeededRandom, parts: Part[], fault: PartFault): Promise<Part | undefined> {
  const giveUpAtMs = Date.now() + WAITS_MS;
  for (;;) {
    const ofRole = parts.filter(({ role }) => role === fault.role);
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
