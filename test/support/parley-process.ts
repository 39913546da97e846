import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { keepEvidence } from './evidence/evidence.ts';
import { registerEnvironment } from './evidence/register-environment.ts';

/** A Parley in a separate process, from the compiled `dist/`. */
export interface ParleyProcess {
  readonly pid: number;
  /** The output so far. */
  output(): string;
  kill(signal: NodeJS.Signals): void;
  /** Like Ctrl+C in a terminal: signals the process and its whole group. Needs `ownGroup`. */
  killGroup(signal: NodeJS.Signals): void;
  /** The exit code once it has ended; null if a signal ended it. */
  ended: Promise<number | null>;
}

export interface SpawnOptions {
  env: Record<string, string>;
  command?: string[];
  /** The output that shows that it is up; without it nothing is awaited. */
  until?: RegExp;
  /** Whether a signal may end it before. */
  mayBeKilled?: boolean;
  cwd?: string;
  /** Whether it leads a process group, like a command in a terminal. */
  ownGroup?: boolean;
}

/** Starts a process and waits until it is up. @throws Error if it ends before */
export async function startParleyProcess({
  env,
  command = ['node', 'dist/main.js'],
  until,
  mayBeKilled = false,
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
  while (until && !until.test(output) && !(mayBeKilled && child.signalCode !== null)) {
    if (child.exitCode !== null || child.signalCode !== null || Date.now() > giveUpAtMs) {
      // No caller knows this process; started later, it would use the port of the next one.
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
        // All of its processes have ended.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    },
    ended,
  };
}
