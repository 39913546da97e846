import { fork, type ChildProcess } from 'node:child_process';
import { channel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Socket } from 'node:net';
import { SECOND_MS } from '../clock.ts';
import { CodedError } from '../coded-error.ts';
import { inBackground } from '../in-background.ts';

/**
 * Why an order has no result. `ended`: the process exited or could not start; `too_slow`: it exceeded its time limit;
 * `too_much_memory`: it exceeded its memory limit.
 */
export class SandboxedProcessError extends CodedError<'ended' | 'too_slow' | 'too_much_memory'> {}

/** A process that ended during an order, as published on `SANDBOXED_PROCESS_EXITS`. */
export interface SandboxedProcessExit {
  /** Name of the program. */
  program: string;
  exitCode: number | null;
  signal: string | null;
  /** Whether the order is retried in another process. */
  isTriedAgain: boolean;
}

/** Diagnostics channel for process ends, because the processes are shared by the whole application. */
export const SANDBOXED_PROCESS_EXITS = 'parley:bounded-process-ends';

const ends = channel(SANDBOXED_PROCESS_EXITS);

/** Signal with which V8 aborts when the heap is full. */
const HEAP_IS_FULL = 'SIGABRT';

/** A program whose orders are served by `serve-orders.mjs`, with its limits. */
export interface SandboxedProgram {
  path: string;
  /** Name for log and metrics: the kind of data that it reads. */
  name: string;
  /** Maximum time for one order. */
  limitMs: number;
  /** Memory growth above which the process is ended after its order, to return the memory to the system. */
  maxGrownBytes: number;
  /** Resident memory above which the process is killed during an order. Only on systems that expose it (Linux). */
  maxResidentBytes?: number;
  /** Maximum JavaScript heap. MiB. */
  maxHeapMib?: number;
}

/** Sent before the answer, when the process begins to work on an order. */
const BEGUN = 'begun';

interface Answer {
  result: unknown;
  /** Memory growth since before the first order. */
  grownBytes: number;
}

/** Idle time after which the process is ended. */
const IDLE_LIFE_MS = 20 * SECOND_MS;
/** Poll interval for memory. Decompression at full speed grows by a few MiB in this time. */
const WATCH_EACH_MS = 25;
const KIB_BYTES = 1024;
/** Makes glibc return freed memory to the system instead of keeping it per thread. */
const MEMORY_HABITS = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '1048576' };

/** Folder of our own package. */
const PACKAGE = new URL('../../../', import.meta.url);
/** Folder of the running program: `dist/`, or that of its single modules. */
const PROGRAMS = new URL('../../', import.meta.url);

/**
 * Permissions of the process (SECURITY.md confined-readers): it may read our own programs and their packages and load addons
 * (the image library is one). It can neither write files, start programs, nor read configuration, DATA_DIR or /proc, which
 * exposes the environment of this process.
 */
const PERMISSIONS = [
  process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission',
  '--allow-addons',
  ...readablePlaces().map((path) => `--allow-fs-read=${path}`),
];

/** Each only once: Node 20 aborts if a folder is named twice. */
function readablePlaces(): string[] {
  const places = [PROGRAMS, 'dist/', 'node_modules/', 'package.json', ...packagesAround()];
  return [...new Set(places.map((place) => fileURLToPath(new URL(place, PACKAGE))))];
}

/** An installed package finds its packages beside itself. */
function packagesAround(): string[] {
  return PACKAGE.pathname.endsWith('/node_modules/parley/') ? ['../'] : [];
}

/**
 * A process that reads files from users. A malicious file can only affect this process, which holds no key and no other
 * person's turn, and which can be killed. Started with the first order. Handles one order at a time; the caller ensures
 * that.
 */
export class SandboxedProcess {
  readonly #program: SandboxedProgram;
  #child: ChildProcess | undefined;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(program: SandboxedProgram) {
    this.#program = program;
  }

  /** @returns the program's answer as sent @throws SandboxedProcessError; the signal's reason */
  async ask(order: { bytes: Buffer }, signal?: AbortSignal): Promise<unknown> {
    clearTimeout(this.#idleTimer);
    const { child, answer } = await this.#askTwice(order, signal);
    // Wait for the exit before the next process starts: two processes would use twice the memory.
    if (answer.grownBytes > this.#program.maxGrownBytes) await end(child);
    else this.#idleTimer = setTimeout(() => inBackground(() => end(child)), IDLE_LIFE_MS).unref();
    return answer.result;
  }

  /**
   * A process that was killed gives no reason, so the order is retried once in a new process. An order that ends both is
   * given up.
   */
  async #askTwice(order: { bytes: Buffer }, signal?: AbortSignal): Promise<{ child: ChildProcess; answer: Answer }> {
    try {
      return await this.#ask(order, signal);
    } catch (error) {
      if (!isEnd(error)) throw error;
      this.#tellEnd(error, true);
    }
    try {
      return await this.#ask(order, signal);
    } catch (error) {
      if (isEnd(error)) this.#tellEnd(error, false);
      throw error;
    }
  }

  #tellEnd(error: SandboxedProcessError, isTriedAgain: boolean): void {
    const { exitCode, signal } = error instanceof EndedAtWork ? error : NOT_STARTED;
    const end: SandboxedProcessExit = { program: this.#program.name, exitCode, signal, isTriedAgain };
    ends.publish(end);
  }

  /**
   * If the process exited while idle, the order is not at fault and goes to a new process. The exit may not be noticed yet,
   * and the pipe may still accept the order, so only the missing `begun` message shows that the order never began.
   */
  async #ask(order: { bytes: Buffer }, signal?: AbortSignal): Promise<{ child: ChildProcess; answer: Answer }> {
    const known = this.#child;
    const child = known ?? (this.#child = this.#start());
    const task = { order, signal, ...this.#program };
    try {
      return { child, answer: await ask(child, { ...task, mayHaveEnded: known !== undefined }) };
    } catch (error) {
      if (!(error instanceof NeverBegan)) throw error;
      this.#child = this.#start();
      return { child: this.#child, answer: await ask(this.#child, { ...task, mayHaveEnded: false }) };
    }
  }

  #start(): ChildProcess {
    const { path, maxHeapMib } = this.#program;
    // Pass none of our environment: it contains keys.
    const child = fork(path, {
      env: MEMORY_HABITS,
      execArgv: [
        ...PERMISSIONS,
        `--allow-fs-read=${path}`,
        ...(maxHeapMib === undefined ? [] : [`--max-old-space-size=${maxHeapMib}`, '--max-semi-space-size=4']),
      ],
      serialization: 'advanced',
      stdio: ['pipe', 'ignore', 'ignore', 'ipc'],
    });
    child.unref();
    child.channel?.unref();
    // Errors of the pipe are ignored: the `exit` event reports the end of the process.
    const input = child.stdin as Socket;
    input.on('error', () => undefined).unref();
    const forget = () => {
      if (this.#child === child) this.#child = undefined;
    };
    child.once('exit', forget).on('error', forget);
    return child;
  }
}

/** The process had exited before this order, or could not be started. */
class NeverBegan extends SandboxedProcessError {}

/** The process exited while it worked on this order. */
class EndedAtWork extends SandboxedProcessError {
  readonly exitCode: number | null;
  readonly signal: string | null;

  constructor(exitCode: number | null, signal: string | null) {
    super('ended', 'A job ended its process');
    this.exitCode = exitCode;
    this.signal = signal;
  }
}

const NOT_STARTED = { exitCode: null, signal: null };

function isEnd(error: unknown): error is SandboxedProcessError {
  return error instanceof SandboxedProcessError && error.code === 'ended';
}

/** Kills the process. It has nothing to finish: its answer has arrived, or no caller waits for it. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

interface Task extends Pick<SandboxedProgram, 'limitMs' | 'maxResidentBytes'> {
  order: { bytes: Buffer };
  signal?: AbortSignal;
  /** Whether the process was idle before, so that it may have exited unnoticed. */
  mayHaveEnded: boolean;
}

/**
 * @throws NeverBegan if the order did not reach the process, or the process may have exited and did not begin; otherwise
 * like `ask` of the class
 */
function ask(child: ChildProcess, { order, signal, limitMs, maxResidentBytes, mayHaveEnded }: Task): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let reason: Error | undefined;
    let hasBegun = !mayHaveEnded;
    const endFor = (why: Error) => {
      reason ??= why;
      child.kill('SIGKILL');
    };
    const timer = setTimeout(() => endFor(new SandboxedProcessError('too_slow', 'A job took too long')), limitMs);
    const watch = maxResidentBytes === undefined ? undefined : watchMemory(child, maxResidentBytes, endFor);
    const abort = () => endFor(signal?.reason as Error);
    signal?.addEventListener('abort', abort, { once: true });
    const settle =
      <Given extends unknown[]>(conclude: (...given: Given) => void) =>
      (...given: Given) => {
        clearTimeout(timer);
        clearInterval(watch);
        signal?.removeEventListener('abort', abort);
        child.off('message', answered).off('exit', ended).off('error', failed);
        conclude(...given);
      };
    const answered = (answer: unknown) => {
      if (answer === BEGUN) hasBegun = true;
      else settle(() => resolve(answer as Answer))();
    };
    const ended = settle((exitCode: number | null, endSignal: NodeJS.Signals | null) => {
      if (reason) reject(reason);
      else if (hasBegun && endSignal === HEAP_IS_FULL)
        reject(new SandboxedProcessError('too_much_memory', 'A job used too much memory'));
      else if (hasBegun) reject(new EndedAtWork(exitCode, endSignal));
      else reject(new NeverBegan('ended', 'The process had ended'));
    });
    const failed = (cause: Error) =>
      settle(() => reject(new NeverBegan('ended', 'The process cannot be reached', { cause })))();
    child.on('message', answered).on('exit', ended).on('error', failed);
    const { bytes, ...wishes } = order;
    child.send({ ...wishes, sizeBytes: bytes.length }, (error) => error && failed(error));
    // Sent through stdin: an IPC message would be copied twice on each side.
    child.stdin?.write(bytes);
  });
}

/** Monitors memory from outside, because a busy process cannot monitor itself. */
function watchMemory(child: ChildProcess, maxBytes: number, endFor: (why: Error) => void): NodeJS.Timeout {
  return setInterval(() => {
    inBackground(async () => {
      const status = await readFile(`/proc/${child.pid}/status`, 'latin1').catch(() => '');
      const residentKib = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
      if (residentKib * KIB_BYTES > maxBytes)
        endFor(new SandboxedProcessError('too_much_memory', 'A job used too much memory'));
    });
  }, WATCH_EACH_MS).unref();
}
