// Local mode that restarts when a source file is saved: `npm run dev`. The messenger's page is built only once, at the
// start.
import { spawn } from 'node:child_process';

const children = [];
let isEnding = false;

function run(args, stdout) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', stdout, 'inherit'] });
  children.push(child);
  child.on('exit', (code) => {
    process.exitCode ||= code ?? 0;
    end();
  });
  return child;
}

function end() {
  if (isEnding) return;
  isEnding = true;
  for (const child of children) child.kill('SIGTERM');
}
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, end);

const compiler = run(
  [
    'node_modules/typescript/bin/tsc',
    ...['-p', 'tsconfig.build.json', '--noCheck', '--outDir', 'dist-modules', '--watch', '--preserveWatchOutput'],
  ],
  'pipe',
);
// The first compilation writes every file, and each would restart the server.
let said = '';
compiler.stdout.on('data', function startServer(text) {
  said += text;
  if (isEnding || !said.includes('Watching for file changes')) return;
  compiler.stdout.off('data', startServer).resume();
  run(['--enable-source-maps', '--watch', 'dist-modules/main.js', '--no-open', ...process.argv.slice(2)], 'inherit');
});
