import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChaosCommand } from './options.ts';
import { isKept, reportOf, traceOf } from './report.ts';
import { runChaos } from './run-chaos.ts';
import { SCENARIOS } from './scenarios.ts';
import { slowReportOf } from './slow-report.ts';

const TRACES_SHOWN = 3;

/** Runs one scenario, or all of them. @returns whether every guarantee was kept */
export async function runScenarios(command: ChaosCommand, say: (line: string) => void): Promise<boolean> {
  const { scenario: wanted = 'all', seed, logs, waiting, older } = command;
  const names = wanted === 'all' ? Object.keys(SCENARIOS) : [wanted];
  let isAllKept = true;
  for (const name of names) {
    const scenario = SCENARIOS[name];
    if (!scenario) throw new Error(`There is no scenario ${name}; available are ${Object.keys(SCENARIOS).join(', ')}`);
    say(`\n${name}: ${scenario.tells}`);
    const logFolder = logs === undefined ? {} : { logFolder: join(logs, name) };
    const options = scenario.optionsOf({ seed, waiting, older });
    const run = await runChaos({ ...options, seed, killsPerMinute: 0, freezeMs: 0, tell: say, ...logFolder });
    if (logs !== undefined) writeFileSync(join(logs, name, 'ledger.json'), JSON.stringify(run.ledger));
    const judged = reportOf(seed, run);
    for (const { kind, event, detail } of judged.violations) say(`${kind.toUpperCase()} Q${event}: ${detail}`);
    for (const { event } of judged.violations.slice(0, TRACES_SHOWN)) say(traceOf(run.ledger, event));
    const { callsPerAnswer, recoveryMs, beginsAfterMs } = slowReportOf(run.ledger, 0);
    say(JSON.stringify({ ...judged.report, callsPerAnswer, idleMs: recoveryMs, beginsAfterMs }));
    const isWell = isKept(judged);
    say(`${name}: ${isWell ? 'kept' : 'BROKEN'}`);
    isAllKept &&= isWell;
  }
  return isAllKept;
}
