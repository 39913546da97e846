import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { monotonicMs, SECOND_MS } from '../../../shared/clock.ts';
import { Deferred } from '../../../shared/deferred.ts';
import { threadModule } from '../../../shared/process/worker-pool.ts';
import type { KnowledgeReport } from '../knowledge-report.ts';
import type { IndexEvent, IndexCommand } from './index-messages.ts';
import type { LocalHit, LocalIndex, LocalQuery, LocalSource } from './local-index.ts';

export interface IndexProcessOptions {
  /** Where the index is stored between restarts. */
  folder: string;
  report: Pick<KnowledgeReport, 'documentsLeftOut' | 'indexed' | 'indexEnded'>;
  lookEveryMs?: number;
}

const PROGRAM = fileURLToPath(threadModule('./index-program.js', import.meta.url));
/** V8 heap limit. Typed arrays and buffers are not included. MiB. */
const HEAP_MIB = 512;
/** glibc settings that return freed memory to the system. */
const MEMORY_HABITS = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '1048576' };
/** A process that ends sooner is restarted with a delay. */
const YOUNG_MS = 10 * SECOND_MS;
const FIRST_PAUSE_MS = SECOND_MS / 5;
const MAX_PAUSE_MS = 5 * SECOND_MS;

/**
 * Runs the index in a separate process, so that reading, indexing and searching do not block answers, and a malicious
 * document cannot reach a process that holds keys. If the process ends, it is restarted. Pending searches, and searches
 * until the restart, fail.
 */
export class IndexProcess implements LocalIndex {
  readonly #options: IndexProcessOptions;
  readonly #asked = new Map<number, Deferred<LocalHit[]>>();
  #sources: readonly LocalSource[] = [];
  #child: ChildProcess | undefined;
  #lastId = 0;
  #isClosed = false;
  #youngDeaths = 0;

  constructor(options: IndexProcessOptions) {
    this.#options = options;
    this.#start();
  }

  /** For tests. */
  get processId(): number | undefined {
    return this.#child?.pid;
  }

  use(sources: readonly LocalSource[]): void {
    this.#sources = sources;
    this.#send({ kind: 'use', sources });
  }

  async search(query: LocalQuery, signal: AbortSignal): Promise<LocalHit[]> {
    if (!this.#child?.connected) throw new Error('The index is unavailable');
    const id = (this.#lastId += 1);
    const answer = new Deferred<LocalHit[]>();
    const forget = () => this.#asked.delete(id);
    this.#asked.set(id, answer);
    signal.addEventListener('abort', forget, { once: true });
    this.#send({ kind: 'search', id, query });
    try {
      return await answer.promise;
    } finally {
      forget();
      signal.removeEventListener('abort', forget);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const child = this.#child;
    if (child?.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.ref();
    // Safe because its files are consistent at all times.
    child.kill('SIGKILL');
    await gone;
  }

  #start(): void {
    if (this.#isClosed) return;
    const { folder, lookEveryMs } = this.#options;
    const beganMs = monotonicMs();
    const child = fork(PROGRAM, {
      // The environment is not inherited because it contains keys.
      env: MEMORY_HABITS,
      execArgv: [`--max-old-space-size=${HEAP_MIB}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#child = child;
    child.unref();
    child.channel?.unref();
    child.on('message', (message: IndexEvent) => this.#handleMessage(message));
    child.on('error', () => undefined);
    child.once('exit', (exitCode, signal) => {
      this.#failAll();
      if (this.#isClosed) return;
      const afterMs = Math.round(monotonicMs() - beganMs);
      this.#youngDeaths = afterMs < YOUNG_MS ? this.#youngDeaths + 1 : 0;
      this.#options.report.indexEnded({ exitCode, signal, afterMs });
      const pauseMs = this.#youngDeaths === 0 ? 0 : FIRST_PAUSE_MS * 2 ** (this.#youngDeaths - 1);
      setTimeout(() => this.#start(), Math.min(pauseMs, MAX_PAUSE_MS)).unref();
    });
    this.#send({ kind: 'begin', folder, lookEveryMs });
    if (this.#sources.length > 0) this.#send({ kind: 'use', sources: this.#sources });
  }

  #handleMessage(message: IndexEvent): void {
    if (message.kind === 'leftOut') this.#options.report.documentsLeftOut(message.event);
    else if (message.kind === 'indexed') this.#options.report.indexed(message.event);
    else if (message.kind === 'found') this.#asked.get(message.id)?.resolve([...message.hits]);
    else this.#asked.get(message.id)?.reject(new Error('The index could not be searched'));
  }

  #send(message: IndexCommand): void {
    // Errors are ignored: the `exit` event reports a dead process.
    if (this.#child?.connected) this.#child.send(message, () => undefined);
  }

  #failAll(): void {
    for (const answer of this.#asked.values()) answer.reject(new Error('The index process ended'));
    this.#asked.clear();
  }
}
