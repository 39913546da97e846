import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { keepEvidence } from './evidence/evidence.ts';
import { registerEnvironment } from './evidence/register-environment.ts';

/** A Parley of its own process, from the compiled `dist/`. */
export interface ParleyProcess {
  readonly pid: number;
  /** What it printed so far. */
  output(): string;
  kill(signal: NodeJS.Signals): void;
  /** As a terminal does at Ctrl+C: the signal reaches the process and all that it started in its group. Needs `ownGroup`. */
  killGroup(signal: NodeJS.Signals): void;
  /** The exit code, once it has ended; null when a signal ended it. */
  ended: Promise<number | null>;
}

export interface SpawnOptions {
  env: Record<string, string>;
  command?: string[];
  /** A line of output that says it is up; none waits for nothing. */
  until?: RegExp;
  cwd?: string;
  /** Whether it leads a process group, as a command does in a terminal. */
  ownGroup?: boolean;
}

/** Starts a process and waits until it says that it is up. @throws Error when it ends before */
export async function startParleyProcess({
  env,
  command = ['node', 'dist/main.js'],
  until,
  cwd,
  ownGroup = false,
}: SpawnOptions): Promise<ParleyProcess> {
  const [program = 'node', ...args] = command;
  const child = spawn(program, args, {
    cwd,
    detached: ownGroup,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '/tmp',
      NODE_ENV: 'test',
      LOG_LEVEL: 'debug',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  registerEnvironment(env);
  let output = '';
  const listen = (chunk: Buffer) => void (output += chunk.toString());
  child.stdout.on('data', listen);
  child.stderr.on('data', listen);
  child.once('close', () => keepEvidence('logs', output));
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  const giveUpAtMs = Date.now() + 20_000;
  while (until && !until.test(output)) {
    if (child.exitCode !== null || child.signalCode !== null || Date.now() > giveUpAtMs) {
      // Nobody else knows of it; one that came up later would hold the port of the next.
      child.kill('SIGKILL');
      throw new Error(`The process did not come up: ${output.slice(-2_000)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    pid: child.pid ?? 0,
    output: () => output,
    kill: (signal) => void child.kill(signal),
    killGroup(signal) {
      try {
        process.kill(-(child.pid ?? Number.NaN), signal);
      } catch (error) {
        // All of it has ended.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    },
    ended,
  };
}
