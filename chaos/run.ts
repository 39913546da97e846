// Entry point of `npm run chaos`; see `options.ts` for its arguments.
import { readOptions, USAGE } from './options.ts';
import { runFailPoints } from './run-fail-points.ts';
import { runFaults } from './run-faults.ts';
import { runScenarios } from './run-scenario.ts';
import { runSlow } from './run-slow.ts';
import { soak } from './run-soak.ts';

const say = (line: string) => void process.stdout.write(`${line}\n`);

const command = readOptions(process.argv.slice(2));
if (command.help) say(USAGE);
else {
  say(`seed ${command.seed}`);
  const run = () => {
    if (command['fail-points']) return runFailPoints({ lives: command.lives, seed: command.seed, say });
    if (command.scenario !== undefined) return runScenarios(command, say);
    if (command.slow && !command.soak) return runSlow(command, say);
    return command.soak ? soak(command, say) : runFaults(command, say);
  };
  // Without this, the end of the process waits for leftover connections, and may spin on a processor for ever.
  process.exit((await run()) ? 0 : 1);
}
