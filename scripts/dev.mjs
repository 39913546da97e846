// Local mode that restarts when a source file is saved: `npm run dev`. The messenger's page is built once, at the start.
import { spawn } from 'node:child_process';

const compiler = spawn(
  process.execPath,
  [
    'node_modules/typescript/bin/tsc',
    ...['-p', 'tsconfig.build.json', '--noCheck', '--outDir', 'dist', '--watch', '--preserveWatchOutput'],
  ],
  { stdio: ['ignore', 'ignore', 'inherit'] },
);
const server = spawn(
  process.execPath,
  ['--enable-source-maps', '--watch', 'dist/main.js', '--no-open', ...process.argv.slice(2)],
  { stdio: 'inherit' },
);

let isEnding = false;
function end() {
  if (isEnding) return;
  isEnding = true;
  for (const child of [compiler, server]) child.kill('SIGTERM');
}
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, end);
for (const child of [compiler, server])
  child.on('exit', (code) => {
    process.exitCode ||= code ?? 0;
    end();
  });
