import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { seededRandom } from '../test/support/seeded-random.ts';
import type { ChaosCommand } from './options.ts';
import { isKept, reportOf, traceOf } from './report.ts';
import { runChaos, type ChaosOptions } from './run-chaos.ts';
import { missedSlowGoals, SLOW_GOALS, slowReportOf } from './slow-report.ts';
import { slowRecoveries } from './slow-recovery.ts';
import { planSlowFaults } from './slow-schedule.ts';
import { plainInstances } from './testbed.ts';

const TRACES_SHOWN = 5;
const SECOND_MS = 1_000;
/** A turn of 90 s may have to start again at the end of the load, more than once. */
const DRAIN_LIMIT_MS = 300 * SECOND_MS;
export const LONG_ANSWER_MS = { least: 30 * SECOND_MS, most: 90 * SECOND_MS };
/** About as long as answers take, as the README recommends. */
const GRACE_SEC = 60;
/** A freeze or a held link may occur meanwhile. */
const STOP_LIMIT_MS = (GRACE_SEC + 45) * SECOND_MS;
const RATE_PER_SEC = 1;
const USERS = 300;
const FAULTS_PER_MINUTE = 9;
/** 750 in twenty minutes, so that four runs have 3,000. */
const LONG_ANSWERS_PER_MINUTE = 37.5;

/** Options common to all slow-dependency runs. */
export function slowOptions(seed: string, shards: number) {
  return {
    ...{ seed, killsPerMinute: 0, freezeMs: 0, chatFails: 'never', isHostile: true, clocksStep: true },
    settings: { QUEUE_SHARDS: String(shards), SHUTDOWN_GRACE_SEC: String(GRACE_SEC) },
    stopLimitMs: STOP_LIMIT_MS,
  } satisfies Partial<ChaosOptions>;
}

/**
 * Runs the whole product with seeded slow-dependency faults and prints the verdict. @returns whether the guarantees were
 * kept and the goals reached
 */
export async function runSlow(command: ChaosCommand, say: (line: string) => void): Promise<boolean> {
  const { seed, logs, minutes } = command;
  const shards = command.shards ?? seededRandom(`${seed} shards`).pick([1, 3]);
  const loadMs = minutes * 60_000;
  say(`${shards} queue shards`);
  const run = await runChaos({
    ...slowOptions(seed, shards),
    ...{ loadMs, ratePerSec: RATE_PER_SEC, users: USERS, answerMs: LONG_ANSWER_MS, drainLimitMs: DRAIN_LIMIT_MS },
    ...(command.adversaries === 0
      ? {}
      : { adversariesPerMinute: command.adversaries ?? 1, enginePlaces: 30, filesOneIn: 10 }),
    instances: plainInstances(command.receivers, command.workers),
    faults: planSlowFaults({ random: seededRandom(`${seed} slow`), loadMs, faultsPerMinute: FAULTS_PER_MINUTE }),
    tell: say,
    ...(logs === undefined ? {} : { logFolder: logs }),
  });
  if (logs !== undefined) writeFileSync(join(logs, 'ledger.json'), JSON.stringify(run.ledger));
  const judged = reportOf(seed, run);
  const { report, violations } = judged;
  for (const { kind, event, detail } of violations) say(`${kind.toUpperCase()} Q${event}: ${detail}`);
  const accused = new Set(violations.map(({ event }) => event).filter((event) => event > 0));
  for (const id of [...accused].slice(0, TRACES_SHOWN)) say(`\n${traceOf(run.ledger, id)}`);
  const slow = slowReportOf(run.ledger, LONG_ANSWER_MS.least);
  const [slowest] = slowRecoveries(run.ledger).sort((left, right) => right.ms - left.ms);
  if (slowest)
    say(
      `\nThe slowest recovery, ${slowest.ms} ms, after ${slowest.injectedFault}:\n${traceOf(run.ledger, slowest.event)}`,
    );
  const longAnswers = Math.floor(minutes * LONG_ANSWERS_PER_MINUTE);
  const missed = missedSlowGoals(slow, { ...SLOW_GOALS, longAnswers });
  for (const sentence of missed) say(`MISSED: ${sentence}`);
  say('');
  const { byInjectedFault, ...figures } = slow;
  for (const [name, { injectedFaults, turns, ...times }] of Object.entries(byInjectedFault).sort())
    say(`${name.padEnd(34)} ${injectedFaults} injected faults, last for ${turns} turns: ${JSON.stringify(times)}`);
  for (const [name, value] of Object.entries({ ...report, shards, ...figures }))
    say(`${name.padEnd(16)} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`);
  say(JSON.stringify({ ...report, shards, slow }));
  return isKept(judged) && missed.length === 0;
}
