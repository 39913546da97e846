// npm run chaos; `options.ts` says what it takes.
import { readOptions, USAGE } from './options.ts';
import { runFailPoints } from './run-fail-points.ts';
import { runFaults } from './run-faults.ts';

const say = (line: string) => void process.stdout.write(`${line}\n`);

const command = readOptions(process.argv.slice(2));
if (command.help) say(USAGE);
else {
  say(`seed ${command.seed}`);
  const isAllKept = command['fail-points']
    ? await runFailPoints({ lives: command.lives, seed: command.seed, say })
    : await runFaults(command, say);
  process.exitCode = isAllKept ? 0 : 1;
}
