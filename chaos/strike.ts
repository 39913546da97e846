import { setTimeout as pause } from 'node:timers/promises';
import type { SeededRandom } from '../test/support/seeded-random.ts';
import type { Blow } from './ledger.ts';
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
  const { world, random, stops } = options;
  const { ledger, redis, parts } = world;
  const note = (target: string, detail = ''): Blow => {
    const kind = fault.kind === 'retire' ? 'stop' : fault.kind;
    const blow: Blow = { atMs: Date.now(), kind, target, detail };
    ledger.blows.push(blow);
    return blow;
  };
  if (fault.kind === 'redis-kill') {
    const blow = note('redis');
    await redis.killAndRestart(fault.awayMs);
    blow.untilMs = Date.now();
    return;
  }
  if (fault.kind === 'redis-freeze') {
    note('redis', `${fault.forMs} ms`);
    return redis.freeze(fault.forMs);
  }
  if (fault.kind === 'retire') {
    const { moment = () => true } = fault;
    for (let waitedMs = 0; !moment(ledger) && waitedMs < MOMENT_WITHIN_MS; waitedMs += 20) await pause(20);
    const retired = parts.find(({ process }) => process.name === fault.part)?.process;
    note(retired?.life ?? '', 'for good');
    const result = await retired?.retire();
    if (result) stops.push({ part: fault.part, ...result });
    return;
  }
  const part = await choose(random, parts, fault);
  if (!part) return;
  const { process, links } = part;
  switch (fault.kind) {
    case 'kill':
      note(process.life);
      return process.kill();
    case 'freeze': {
      const blow = note(process.life, `${fault.forMs} ms`);
      const isWhole = await process.freeze(fault.forMs);
      if (isWhole) blow.untilMs = Date.now();
      return isWhole || Date.now() > endsAtMs ? undefined : strikeOnce(options, fault, endsAtMs);
    }
    case 'stop': {
      note(process.life);
      const result = await process.stop();
      if (result) stops.push({ part: process.name, ...result });
      return;
    }
    case 'link': {
      const blow = note(`${process.life} ${fault.link}`, JSON.stringify(fault.fault));
      links[fault.link].breakWith(fault.fault);
      await pause(fault.forMs);
      links[fault.link].mend();
      blow.untilMs = Date.now();
    }
  }
}

/** So long a fault waits for its moment; then it comes all the same. */
const MOMENT_WITHIN_MS = 10_000;
/** So long a fault waits for a moment at which another process of the role stands; then it is left out. */
const WAITS_MS = 20_000;

/** What is watched loses links, never its life. A kill may hit what is frozen, as in life. One of each role is left standing: with none there is nothing to be seen. */
async function choose(
  random: SeededRandom,
  parts: Part[],
  fault: Exclude<Fault, { kind: `redis-${string}` | 'retire' }>,
): Promise<Part | undefined> {
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
