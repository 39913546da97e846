import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';

const canPin = cpus().length > 1 && spawnSync('taskset', ['--version']).status === 0;
if (canPin) spawnSync('taskset', ['-a', '-p', '-c', '1', String(process.pid)]);

/** From now on this process and its children run on any core, as in normal use. */
export function unpin() {
  if (canPin) spawnSync('taskset', ['-a', '-p', '-c', `0-${cpus().length - 1}`, String(process.pid)]);
}

/** Starts the measured process, alone on core 0 if that is supported and requested. */
export async function startMeasured(args, env, { isPinned = true } = {}) {
  const command = canPin && isPinned ? ['taskset', '-c', '0', 'node', ...args] : ['node', ...args];
  const child = spawn(command[0], command.slice(1), {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk) => /is running|has started/.test(chunk.toString()) && resolve());
    child.once('exit', (code) => reject(new Error(`The measured process ended early (${code})`)));
  });
  const ended = once(child, 'exit');
  return {
    pid: child.pid,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await ended;
      clearTimeout(timer);
    },
  };
}

/** Resident memory of a process in MiB (Linux). */
export function memoryMib(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024);
}

/** CPU time that a process has used so far, in ms (Linux). Hardly affected by other load on the machine. */
export function computedMs(pid) {
  const tasks = readdirSync(`/proc/${pid}/task`);
  const nanoseconds = tasks.map((task) =>
    Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]),
  );
  return nanoseconds.reduce((sum, one) => sum + one, 0) / 1e6;
}
