import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { missedGoals, RECOVERY_GOALS } from './goals.ts';
import type { ChaosCommand } from './options.ts';
import { recoveryTimes } from './recovery.ts';
import { isKept, reportOf, traceOf } from './report.ts';
import { runChaos } from './run-chaos.ts';
import { plainInstances } from './testbed.ts';

const TRACES_SHOWN = 5;

/**
 * Runs the whole product under seeded faults and prints the verdict. @returns whether the guarantees were kept and the goals
 * reached
 */
export async function runFaults(command: ChaosCommand, say: (line: string) => void): Promise<boolean> {
  const { seed, logs, goals } = command;
  const run = await runChaos({
    seed,
    loadMs: command.minutes * 60_000,
    ratePerSec: command.rate,
    killsPerMinute: command.killsPerMinute,
    asked: goals,
    instances: plainInstances(command.receivers, command.workers),
    freezeMs: 15_000,
    chatFails: 'also-stalls',
    signsIn: command['sign-in'],
    isConnected: command.connected,
    ...(command.adversaries === 0 ? {} : { adversariesPerMinute: command.adversaries ?? 6, filesOneIn: 10 }),
    tell: say,
    ...(logs === undefined ? {} : { logFolder: logs }),
  });
  if (logs !== undefined) writeFileSync(join(logs, 'ledger.json'), JSON.stringify(run.ledger));
  const judged = reportOf(seed, run);
  const { report, violations } = judged;
  for (const { kind, event, detail } of violations) say(`${kind.toUpperCase()} Q${event}: ${detail}`);
  const accused = new Set(violations.map(({ event }) => event).filter((event) => event > 0));
  for (const id of [...accused].slice(0, TRACES_SHOWN)) say(`\n${traceOf(run.ledger, id)}`);
  const [slowest] = recoveryTimes(run.ledger, 'kill').sort((left, right) => right.ms - left.ms);
  if (slowest) say(`\nThe slowest recovery, ${slowest.ms} ms:\n${traceOf(run.ledger, slowest.event)}`);
  const missed = missedGoals(report, { ...goals, ...RECOVERY_GOALS });
  for (const sentence of missed) say(`MISSED: ${sentence}`);
  say('');
  for (const [name, value] of Object.entries(report))
    say(`${name.padEnd(16)} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`);
  say(JSON.stringify(report));
  return isKept(judged) && missed.length === 0;
}
