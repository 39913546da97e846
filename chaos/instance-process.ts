import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { atExit } from './at-exit.ts';

/** `up`: it has reported that it is running, and no fault was injected since. */
export type InstanceState = 'starting' | 'up' | 'frozen' | 'stopping' | 'down' | 'closed';

export interface InstanceProcessOptions {
  name: string;
  env: Record<string, string>;
  /** The program. Defaults to `dist/main.js`. */
  main?: string;
  /** Node options. */
  nodeArgs?: readonly string[];
  /** Whether its wall clock can be set by its parent (`stepping-clock.mjs`). */
  hasSteppingClock?: boolean;
  /** A file to which all of its output is appended. */
  logFile?: string;
  /** Additional environment for each life. */
  envOfLife(life: string): Record<string, string>;
  /** Called with each output line and the life that printed it. */
  printed(life: string, line: string): void;
  /** Called if it ends unexpectedly. */
  endedByItself(life: string, signal: string, detail: string): void;
}

const RESTART_AFTER_MS = 200;
const KEPT_OUTPUT_CHARS = 4_000;

/**
 * A Parley process under a supervisor that restarts it whenever it ends, like a service manager. Only the child that was
 * spawned here is ever signalled.
 */
export class InstanceProcess {
  readonly name: string;
  readonly #options: InstanceProcessOptions;
  #env: Record<string, string>;
  #main: string;
  #child: ChildProcess | undefined;
  #state: InstanceState = 'down';
  #output = '';
  #lives = 0;
  #inspectorUrl: string | undefined;
  readonly #forget: () => void;
  #ended: Promise<unknown> = Promise.resolve();

  constructor(options: InstanceProcessOptions) {
    this.name = options.name;
    this.#options = options;
    this.#env = options.env;
    this.#main = options.main ?? 'dist/main.js';
    this.#start();
    this.#forget = atExit(() => this.#child?.kill('SIGKILL'));
  }

  get state(): InstanceState {
    return this.#state;
  }

  /** Its name and the number of its current life. */
  get life(): string {
    return `${this.name}.${this.#lives}`;
  }

  /** Of the current life. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get output(): string {
    return this.#output;
  }

  /** Address of its inspector, if it was started with one. */
  get inspectorUrl(): string | undefined {
    return this.#inspectorUrl;
  }

  kill(): void {
    if (this.#state === 'closed') return;
    this.#state = 'down';
    this.#child?.kill('SIGKILL');
  }

  /**
   * Suspends the whole process for this time; on resuming it must notice that time has passed.
   * @returns whether it survived; a kill may come in between
   */
  async freeze(forMs: number): Promise<boolean> {
    const child = this.#child;
    this.#state = 'frozen';
    child?.kill('SIGSTOP');
    await pause(forMs);
    child?.kill('SIGCONT');
    if (this.#child === child && this.state === 'frozen') this.#state = 'up';
    return child?.exitCode === null && child.signalCode === null;
  }

  /** Requests an orderly stop. @returns the exit code and the duration in ms; undefined if it ended for another reason */
  async stop(): Promise<{ code: number | null; tookMs: number } | undefined> {
    const [child, startedMs] = [this.#child, performance.now()];
    if (!child) return undefined;
    this.#state = 'stopping';
    child.kill('SIGTERM');
    await this.#ended;
    if (child.signalCode === 'SIGKILL') return undefined;
    return { code: child.exitCode, tookMs: performance.now() - startedMs };
  }

  /** Offsets its wall clock from the correct time; a restarted process has the correct time. */
  setClock(offByMs: number): void {
    const child = this.#child;
    // It may be ending; then there is no clock to set.
    if (child?.connected) child.send({ clockOffByMs: offByMs }, () => undefined);
  }

  /** For each later life: additional settings, or another build. */
  change({ env = {}, main }: { env?: Record<string, string>; main?: string }): void {
    this.#env = { ...this.#env, ...env };
    if (main !== undefined) this.#main = main;
  }

  /** Requests an orderly stop without a restart. @returns like `stop` */
  async retire(): ReturnType<InstanceProcess['stop']> {
    const result = await this.stop();
    this.#state = 'closed';
    return result;
  }

  /** Ends it permanently. */
  async close(): Promise<void> {
    this.#state = 'closed';
    this.#child?.kill('SIGKILL');
    await this.#ended;
    this.#forget();
  }

  #start(): void {
    if (this.#state === 'closed') return;
    this.#lives += 1;
    const { life } = this;
    const { nodeArgs = [], hasSteppingClock = false } = this.#options;
    const clockArgs = hasSteppingClock ? ['--import', './chaos/stepping-clock.mjs'] : [];
    const child = spawn(process.execPath, [...nodeArgs, ...clockArgs, this.#main], {
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: process.env['HOME'] ?? '/tmp',
        NODE_ENV: 'test',
        ...this.#env,
        ...this.#options.envOfLife(life),
      },
      stdio: ['ignore', 'pipe', 'pipe', hasSteppingClock ? 'ipc' : 'ignore'],
    });
    const [stdout, stderr] = [child.stdout as Readable, child.stderr as Readable];
    this.#child = child;
    this.#state = 'starting';
    const keep = (chunk: Buffer) => {
      const text = chunk.toString();
      if (this.#options.logFile !== undefined) appendFileSync(this.#options.logFile, text);
      this.#output = (this.#output + text).slice(-KEPT_OUTPUT_CHARS);
      if (this.#child === child && this.#state === 'starting' && /is running|has started/.test(text))
        this.#state = 'up';
    };
    // Printed by Node, before any output of ours.
    createInterface({ input: stderr }).on('line', (line) => {
      this.#inspectorUrl = /^Debugger listening on (ws:\S+)$/.exec(line)?.[1] ?? this.#inspectorUrl;
    });
    createInterface({ input: stdout }).on('line', (line) => this.#options.printed(life, line));
    stdout.on('data', keep);
    stderr.on('data', keep);
    this.#ended = once(child, 'exit').then(() => this.#afterEnd(child));
  }

  async #afterEnd(child: ChildProcess): Promise<void> {
    if (this.#state === 'closed') return;
    if (this.#state !== 'down' && this.#state !== 'stopping')
      this.#options.endedByItself(
        this.life,
        child.signalCode ?? '',
        `${this.life} ended by itself (${String(child.exitCode ?? child.signalCode)}): ${this.#output.slice(-600)}`,
      );
    this.#state = 'down';
    setTimeout(() => this.#start(), RESTART_AFTER_MS);
  }
}
