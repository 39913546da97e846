import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { inBackground } from '../../base/in-background.ts';
import { MIB_BYTES, SECOND_MS } from '../../base/clock.ts';
import { brokenImage, ImageError } from './image-error.ts';
import type { ImageMediaType } from './image-header.ts';

/** What is wanted of the decoder; see `decoder.mjs`. */
export interface DecodeOrder {
  bytes: Buffer;
  mediaType: ImageMediaType;
  mostPixels: number;
  longestSide: number;
  mostBytes: number;
  /** Tried in turn until the image is small enough. */
  jpegSteps: readonly { longestSide: number; quality: number }[];
}

export interface WrittenImage {
  mediaType: 'image/png' | 'image/jpeg';
  bytes: Buffer;
}

/** Sent before the answer, once the order has come and the image is about to be opened. */
const BEGUN = 'begun';

interface DecoderAnswer {
  /** Absent when the image cannot be decoded. */
  written?: WrittenImage;
  /** How much more memory it has than before its first image. */
  grownBytes: number;
}

const PROGRAM = fileURLToPath(new URL('./decoder.mjs', import.meta.url));
/** A large photograph takes half a second. */
const DECODE_LIMIT_MS = 15 * SECOND_MS;
/** It is ended when it has nothing to do, and when it has grown: then its memory is the system's again. */
const IDLE_LIFE_MS = 20 * SECOND_MS;
/** A screenshot leaves 1 MiB to 5 MiB, a large photograph 25 MiB; making another decoder takes a fifth of a second. */
const MOST_GROWN_BYTES = 8 * MIB_BYTES;
/** For glibc: what is freed goes back to the system, rather than staying with each thread that ever decoded. */
const MEMORY_HABITS = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '1048576' };

/**
 * A process that decodes images: what a bad one does to a decoder, it does to a process that holds no key and no other
 * person's turn, and that can be ended. Started with the first image. One image at a time; the caller sees to that.
 */
export class DecoderProcess {
  readonly #limitMs: number;
  #child: ChildProcess | undefined;
  #idleTimer: NodeJS.Timeout | undefined;

  /** @param limitMs how long one image may take */
  constructor(limitMs = DECODE_LIMIT_MS) {
    this.#limitMs = limitMs;
  }

  /** @throws ImageError `broken` when it cannot be decoded or makes the decoder crash, `too_heavy` when it takes too long */
  async decode(order: DecodeOrder): Promise<WrittenImage> {
    clearTimeout(this.#idleTimer);
    const { child, answer } = await this.#ask(order);
    // Two of them would take twice the memory, so the next one starts when this one is gone.
    if (answer.grownBytes > MOST_GROWN_BYTES) await end(child);
    else this.#idleTimer = setTimeout(() => inBackground(() => end(child)), IDLE_LIFE_MS).unref();
    if (!answer.written) throw brokenImage('The image cannot be decoded');
    return answer.written;
  }

  /**
   * One that ended while it had nothing to do is no fault of the image, so a new one is asked. That it ended may not be
   * noticed yet, and its pipe may take the order all the same; what tells is that it never began.
   */
  async #ask(order: DecodeOrder): Promise<{ child: ChildProcess; answer: DecoderAnswer }> {
    const known = this.#child;
    const child = known ?? (this.#child = this.#start());
    try {
      return { child, answer: await ask(child, order, this.#limitMs, known !== undefined) };
    } catch (error) {
      if (known === undefined || error instanceof ImageError) throw error;
      this.#child = this.#start();
      return { child: this.#child, answer: await ask(this.#child, order, this.#limitMs, false) };
    }
  }

  #start(): ChildProcess {
    // Nothing of our environment: it holds keys.
    const child = fork(PROGRAM, {
      env: MEMORY_HABITS,
      execArgv: [],
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

/** It has nothing to finish: its answer is here, or nobody waits for it. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

/**
 * @param mayHaveEnded whether the decoder had nothing to do for a while
 * @throws ImageError; another Error when the order did not reach the decoder, or it may have ended and did not begin
 */
function ask(child: ChildProcess, order: DecodeOrder, limitMs: number, mayHaveEnded: boolean): Promise<DecoderAnswer> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    let hasBegun = !mayHaveEnded;
    const timer = setTimeout(() => {
      isLate = true;
      child.kill('SIGKILL');
    }, limitMs);
    const settle = (conclude: () => void) => () => {
      clearTimeout(timer);
      child.off('message', answered).off('exit', ended).off('error', failed);
      conclude();
    };
    const answered = (answer: unknown) => {
      if (answer === BEGUN) hasBegun = true;
      else settle(() => resolve(answer as DecoderAnswer))();
    };
    const ended = settle(() => {
      if (isLate) reject(new ImageError('too_heavy', 'An image took too long'));
      else if (hasBegun) reject(brokenImage('An image ended the decoder'));
      else reject(new Error('The decoder had ended'));
    });
    const failed = (error: Error) => settle(() => reject(error))();
    child.on('message', answered).on('exit', ended).on('error', failed);
    const { bytes, ...options } = order;
    child.send({ ...options, sizeBytes: bytes.length }, (error) => error && failed(error));
    // By its input, since a message would be copied twice on each side.
    child.stdin?.write(bytes);
  });
}
