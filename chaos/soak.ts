import { setTimeout as pause } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { ageKeys, takeCensus, type KeyCensus } from './key-census.ts';
import { runChaos, type ChaosOptions, type ChaosRun } from './run-chaos.ts';
import { readVitalSigns, type VitalSigns } from './vital-signs.ts';
import { plainInstances, type InstancePlan, type Testbed } from './testbed.ts';

export interface SoakOptions extends Pick<
  ChaosOptions,
  'seed' | 'ratePerSec' | 'killsPerMinute' | 'slowFaultsPerMinute' | 'clocksStep' | 'stopLimitMs' | 'faults' | 'tell'
> {
  /** After each round the system becomes idle and is measured; the first round is the warm-up. */
  roundMs: number;
  rounds: number;
  /** Defaults to `soakInstances()`. */
  instances?: readonly InstancePlan[];
}

/** Measurements of the watched processes after a round, by process name. */
export type SoakMeasurement = Record<string, VitalSigns>;

/** All results of a soak test, for the verdict. */
export interface SoakRun {
  run: ChaosRun;
  /** One for each round. */
  measurements: SoakMeasurement[];
  keys: {
    /** Before the first message. */
    before: KeyCensus;
    /** After the last round, as explained by the conversations and messages. */
    after: KeyCensus;
    /** After all lifetimes have ended, while the processes are still running. */
    aged: KeyCensus;
  };
}

/** Idle connections of an HTTP client live for four seconds. */
const REST_MS = 6_000;
/** Sweeper, scan for dead workers and renewals all run within this time. */
const AFTERLIFE_MS = 12_000;

/** A watched receiver and worker that are never killed, beside some that die. */
export function soakInstances(): InstancePlan[] {
  return [{ role: 'receiver', isWatched: true }, { role: 'worker', isWatched: true }, ...plainInstances(1, 2)];
}

/**
 * Runs the product under a steady load with mild faults in rounds, and measures its resources between them. Does not judge
 * the results.
 */
export async function runSoak(options: SoakOptions): Promise<SoakRun> {
  const { roundMs, instances = soakInstances(), ...rest } = options;
  const censuses: KeyCensus[] = [];
  const measurements: SoakMeasurement[] = [];
  const run = await runChaos({
    ...rest,
    instances,
    loadMs: roundMs,
    freezeMs: 15_000,
    chatFails: 'briefly',
    platformsHangUp: true,
    async atRest(testbed, store) {
      censuses.push(await takeCensus(store));
      if (censuses.length > 1) measurements.push(await measure(testbed));
    },
    async atEnd(_, store) {
      censuses.push(await ageAndCount(store));
    },
  });
  const [before = {}, after = {}, aged = {}] = [censuses[0], censuses.at(-2), censuses.at(-1)];
  return { run, measurements, keys: { before, after, aged } };
}

async function measure({ instances }: Testbed): Promise<SoakMeasurement> {
  await pause(REST_MS);
  const watched = instances.filter(({ isWatched }) => isWatched);
  const measurements = await Promise.all(
    watched.map(async ({ process }): Promise<[string, VitalSigns]> => [
      process.name,
      await readVitalSigns(process.inspectorUrl ?? ''),
    ]),
  );
  return Object.fromEntries(measurements);
}

async function ageAndCount(store: Redis): Promise<KeyCensus> {
  await ageKeys(store);
  await pause(AFTERLIFE_MS);
  return takeCensus(store);
}
