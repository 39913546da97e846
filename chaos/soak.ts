import { setTimeout as pause } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { ageKeys, takeCensus, type KeyCensus } from './key-census.ts';
import { runChaos, type ChaosOptions, type ChaosRun } from './run-chaos.ts';
import { readVitalSigns, type VitalSigns } from './vital-signs.ts';
import { plainParts, type PartPlan, type World } from './world.ts';

export interface SoakOptions extends Pick<
  ChaosOptions,
  'seed' | 'ratePerSec' | 'killsPerMinute' | 'slowBlowsPerMinute' | 'clocksStep' | 'stopLimitMs' | 'faults' | 'tell'
> {
  /** After each round all comes to rest and is measured; the first round is the warm-up. */
  roundMs: number;
  rounds: number;
  /** Those of `soakParts()` unless told. */
  parts?: readonly PartPlan[];
}

/** What the watched processes held after a round, by the name of the process. */
export type SoakLook = Record<string, VitalSigns>;

/** All that a soak left behind, to be judged. */
export interface SoakRun {
  run: ChaosRun;
  /** One for each round. */
  looks: SoakLook[];
  keys: {
    /** Before the first message. */
    before: KeyCensus;
    /** After the last round: what the conversations and messages explain. */
    after: KeyCensus;
    /** Once all lives have run out, while the processes go on. */
    aged: KeyCensus;
  };
}

/** Idle connections of an HTTP client live for four seconds. */
const REST_MS = 6_000;
/** Sweeper, scan for dead workers and renewals all come by in this time. */
const AFTERLIFE_MS = 12_000;

/** A receiver and a worker that are watched and never killed, beside some that die. */
export function soakParts(): PartPlan[] {
  return [{ role: 'receiver', isWatched: true }, { role: 'worker', isWatched: true }, ...plainParts(1, 2)];
}

/** Runs the product under a steady load and gentle faults in rounds, and measures what it holds between them. Nothing is judged here. */
export async function runSoak(options: SoakOptions): Promise<SoakRun> {
  const { roundMs, parts = soakParts(), ...rest } = options;
  const censuses: KeyCensus[] = [];
  const looks: SoakLook[] = [];
  const run = await runChaos({
    ...rest,
    parts,
    loadMs: roundMs,
    freezeMs: 15_000,
    chatFails: 'briefly',
    platformsHangUp: true,
    async atRest(world, store) {
      censuses.push(await takeCensus(store));
      if (censuses.length > 1) looks.push(await lookAt(world));
    },
    async atEnd(_, store) {
      censuses.push(await ageAndCount(store));
    },
  });
  const [before = {}, after = {}, aged = {}] = [censuses[0], censuses.at(-2), censuses.at(-1)];
  return { run, looks, keys: { before, after, aged } };
}

async function lookAt({ parts }: World): Promise<SoakLook> {
  await pause(REST_MS);
  const watched = parts.filter(({ isWatched }) => isWatched);
  const looks = await Promise.all(
    watched.map(async ({ process }): Promise<[string, VitalSigns]> => [
      process.name,
      await readVitalSigns(process.inspectorUrl ?? ''),
    ]),
  );
  return Object.fromEntries(looks);
}

async function ageAndCount(store: Redis): Promise<KeyCensus> {
  await ageKeys(store);
  await pause(AFTERLIFE_MS);
  return takeCensus(store);
}
