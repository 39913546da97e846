import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { atExit } from './at-exit.ts';

/** `up`: it said that it runs, and nothing has been done to it since. */
export type InstanceState = 'starting' | 'up' | 'frozen' | 'stopping' | 'down' | 'closed';

export interface InstanceProcessOptions {
  name: string;
  env: Record<string, string>;
  /** The program; `dist/main.js` unless told. */
  main?: string;
  /** Options of node itself. */
  nodeArgs?: readonly string[];
  /** Whether it listens to what its parent says about its wall clock (`stepping-clock.mjs`). */
  hasSteppingClock?: boolean;
  /** A file that its whole output is appended to. */
  logFile?: string;
  /** The environment that each life gets on top. */
  envOfLife(life: string): Record<string, string>;
  /** Told each line that it prints, and which life printed it. */
  printed(life: string, line: string): void;
  /** Told when it ends although nobody asked it to. */
  endedByItself(life: string, signal: string, detail: string): void;
}

const RESTART_AFTER_MS = 200;
const KEPT_OUTPUT_CHARS = 4_000;

/**
 * One Parley process under a supervisor: it is started again whenever it ends, as a service manager would. Only the child
 * that was spawned here is ever signalled.
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

  /** Its name with how often it was started. */
  get life(): string {
    return `${this.name}.${this.#lives}`;
  }

  /** Of the life that runs now. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get output(): string {
    return this.#output;
  }

  /** Where its inspector listens, if it was started with one. */
  get inspectorUrl(): string | undefined {
    return this.#inspectorUrl;
  }

  kill(): void {
    if (this.#state === 'closed') return;
    this.#state = 'down';
    this.#child?.kill('SIGKILL');
  }

  /**
   * Stops the clock of the whole process for so long; it must then find that the world has gone on without it.
   * @returns whether it lived through it; a kill may come in between
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

  /** Asks for an orderly stop. @returns the exit code and how long it took, ms; undefined when something else ended it */
  async stop(): Promise<{ code: number | null; tookMs: number } | undefined> {
    const [child, startedMs] = [this.#child, performance.now()];
    if (!child) return undefined;
    this.#state = 'stopping';
    child.kill('SIGTERM');
    await this.#ended;
    if (child.signalCode === 'SIGKILL') return undefined;
    return { code: child.exitCode, tookMs: performance.now() - startedMs };
  }

  /** Sets its wall clock wrong by so much, counted from the right time; a process that starts again has the right one. */
  setClock(offByMs: number): void {
    const child = this.#child;
    // It may be ending just now; then there is no clock to set.
    if (child?.connected) child.send({ clockOffByMs: offByMs }, () => undefined);
  }

  /** What each later life starts with: settings on top of those it has, or another build. */
  change({ env = {}, main }: { env?: Record<string, string>; main?: string }): void {
    this.#env = { ...this.#env, ...env };
    if (main !== undefined) this.#main = main;
  }

  /** Asks for an orderly stop after which it is not started again. @returns as `stop` does */
  async retire(): ReturnType<InstanceProcess['stop']> {
    const result = await this.stop();
    this.#state = 'closed';
    return result;
  }

  /** Ends it for good. */
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
    // Node's own word; it comes before any of ours.
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
