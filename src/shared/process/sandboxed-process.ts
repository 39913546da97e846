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
 * Why an order has no answer. `ended`: the process ended by itself, or never began; `too_slow`: its time was over;
 * `too_much_memory`: it was ended for what it took.
 */
export class BoundedProcessError extends CodedError<'ended' | 'too_slow' | 'too_much_memory'> {}

/** A process that ended during an order, as `BOUNDED_PROCESS_ENDS` tells of it. */
export interface BoundedProcessEnd {
  /** The name of the program. */
  program: string;
  exitCode: number | null;
  signal: string | null;
  /** Whether the order is given to another process. */
  isTriedAgain: boolean;
}

/** Processes are shared by the whole process, so their ends are told on a channel of their own. */
export const BOUNDED_PROCESS_ENDS = 'parley:bounded-process-ends';

const ends = channel(BOUNDED_PROCESS_ENDS);

/** How V8 ends a process whose heap is full. */
const HEAP_IS_FULL = 'SIGABRT';

/** A program whose orders are served by `serve-orders.mjs`, and what it may take. */
export interface BoundedProgram {
  path: string;
  /** For log and metrics: what it reads. */
  name: string;
  /** How long one order may take. */
  limitMs: number;
  /** Beyond it the process is ended after its order: then its memory is the system's again. */
  mostGrownBytes: number;
  /** Beyond it the process is ended at work, where the kernel tells of its memory (Linux). */
  mostResidentBytes?: number;
  /** Of objects of JavaScript. MiB. */
  mostHeapMib?: number;
}

/** Sent before the answer, once the order has come and is about to be worked on. */
const BEGUN = 'begun';

interface Answer {
  result: unknown;
  /** How much more memory the process has than before its first order. */
  grownBytes: number;
}

/** It is ended when it has nothing to do. */
const IDLE_LIFE_MS = 20 * SECOND_MS;
/** What is unpacked at full speed grows by a few MiB meanwhile. */
const WATCH_EACH_MS = 25;
const KIB_BYTES = 1024;
/** For glibc: what is freed goes back to the system, rather than staying with each thread. */
const MEMORY_HABITS = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '1048576' };

/**
 * What such a process may do (SECURITY.md confined-readers): read our own programs and their packages, load addons (the image library is
 * one), and nothing else. It can neither write a file, start a program, nor read settings, DATA_DIR and /proc, where the
 * environment of this process is.
 */
const PERMISSIONS = [
  process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission',
  '--allow-addons',
  ...['dist', 'src', 'node_modules', 'package.json'].map(
    (name) =>
      `--allow-fs-read=${fileURLToPath(new URL(`../../../${name}${name.includes('.') ? '' : '/'}`, import.meta.url))}`,
  ),
];

/**
 * A process that reads what people send: what a bad file does to a reader, it does to a process that holds no key and no other
 * person's turn, and that can be ended. Started with the first order. One order at a time; the caller sees to that.
 */
export class BoundedProcess {
  readonly #program: BoundedProgram;
  #child: ChildProcess | undefined;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(program: BoundedProgram) {
    this.#program = program;
  }

  /** @returns what the program answers, as it sent it @throws BoundedProcessError; the signal's reason */
  async ask(order: { bytes: Buffer }, signal?: AbortSignal): Promise<unknown> {
    clearTimeout(this.#idleTimer);
    const { child, answer } = await this.#askTwice(order, signal);
    // Two of them would take twice the memory, so the next one starts when this one is gone.
    if (answer.grownBytes > this.#program.mostGrownBytes) await end(child);
    else this.#idleTimer = setTimeout(() => inBackground(() => end(child)), IDLE_LIFE_MS).unref();
    return answer.result;
  }

  /** A process that was killed says nothing of its order, so a fresh one gets it once more; an order that ends both is given up. */
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

  #tellEnd(error: BoundedProcessError, isTriedAgain: boolean): void {
    const { exitCode, signal } = error instanceof EndedAtWork ? error : NOT_STARTED;
    const end: BoundedProcessEnd = { program: this.#program.name, exitCode, signal, isTriedAgain };
    ends.publish(end);
  }

  /**
   * One that ended while it had nothing to do is no fault of the order, so a new one is asked. That it ended may not be
   * noticed yet, and its pipe may take the order all the same; what tells is that it never began.
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
    const { path, mostHeapMib } = this.#program;
    // Nothing of our environment: it holds keys.
    const child = fork(path, {
      env: MEMORY_HABITS,
      execArgv: [
        ...PERMISSIONS,
        `--allow-fs-read=${path}`,
        ...(mostHeapMib === undefined ? [] : [`--max-old-space-size=${mostHeapMib}`, '--max-semi-space-size=4']),
      ],
      serialization: 'advanced',
      stdio: ['pipe', 'ignore', 'ignore', 'ipc'],
    });
    child.unref();
    child.channel?.unref();
    // That it ended is told by the process itself.
    const input = child.stdin as Socket;
    input.on('error', () => undefined).unref();
    const forget = () => {
      if (this.#child === child) this.#child = undefined;
    };
    child.once('exit', forget).on('error', forget);
    return child;
  }
}

/** The process had ended before this order, or could not be started. */
class NeverBegan extends BoundedProcessError {}

/** The process ended while it worked on this order. */
class EndedAtWork extends BoundedProcessError {
  readonly exitCode: number | null;
  readonly signal: string | null;

  constructor(exitCode: number | null, signal: string | null) {
    super('ended', 'An order ended its process');
    this.exitCode = exitCode;
    this.signal = signal;
  }
}

const NOT_STARTED = { exitCode: null, signal: null };

function isEnd(error: unknown): error is BoundedProcessError {
  return error instanceof BoundedProcessError && error.code === 'ended';
}

/** It has nothing to finish: its answer is here, or nobody waits for it. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

interface Task extends Pick<BoundedProgram, 'limitMs' | 'mostResidentBytes'> {
  order: { bytes: Buffer };
  signal?: AbortSignal;
  /** Whether the process had nothing to do for a while. */
  mayHaveEnded: boolean;
}

/** @throws NeverBegan when the order did not reach the process, or it may have ended and did not begin; else as `ask` of the class */
function ask(child: ChildProcess, { order, signal, limitMs, mostResidentBytes, mayHaveEnded }: Task): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let reason: Error | undefined;
    let hasBegun = !mayHaveEnded;
    const endFor = (why: Error) => {
      reason ??= why;
      child.kill('SIGKILL');
    };
    const timer = setTimeout(() => endFor(new BoundedProcessError('too_slow', 'An order took too long')), limitMs);
    const watch = mostResidentBytes === undefined ? undefined : watchMemory(child, mostResidentBytes, endFor);
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
        reject(new BoundedProcessError('too_much_memory', 'An order took too much memory'));
      else if (hasBegun) reject(new EndedAtWork(exitCode, endSignal));
      else reject(new NeverBegan('ended', 'The process had ended'));
    });
    const failed = (cause: Error) =>
      settle(() => reject(new NeverBegan('ended', 'The process cannot be asked', { cause })))();
    child.on('message', answered).on('exit', ended).on('error', failed);
    const { bytes, ...wishes } = order;
    child.send({ ...wishes, sizeBytes: bytes.length }, (error) => error && failed(error));
    // By its input, since a message would be copied twice on each side.
    child.stdin?.write(bytes);
  });
}

/** Looks at the process from outside, since one that is at work cannot look at itself. */
function watchMemory(child: ChildProcess, mostBytes: number, endFor: (why: Error) => void): NodeJS.Timeout {
  return setInterval(() => {
    inBackground(async () => {
      const status = await readFile(`/proc/${child.pid}/status`, 'latin1').catch(() => '');
      const residentKib = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
      if (residentKib * KIB_BYTES > mostBytes)
        endFor(new BoundedProcessError('too_much_memory', 'An order took too much memory'));
    });
  }, WATCH_EACH_MS).unref();
}
