import { fork, type ChildProcess } from 'node:child_process';
import { Deferred } from '../../../shared/deferred.ts';
import { SECOND_MS } from '../../../shared/clock.ts';
import { inBackground } from '../../../shared/in-background.ts';
import { exitWithParent } from '../../../shared/process/exit-with-parent.ts';
import type { ConversationRef } from '../../domain/conversation.ts';
import type { SearchLocal } from '../../knowledge/create-knowledge.ts';
import type { FromWorker, MetricsJson, ToWorker, WorkerQuestion, WorkerTask } from './worker-messages.ts';

/** How a worker process ended. */
export interface WorkerEnd {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  /** Milliseconds that it had run. */
  afterMs: number;
}

/** What a process of the quarantine needs of its parent. */
export interface WorkerServices {
  /** Called when a turn that the process was given has ended, or was given back, with what the process has counted. */
  onLeft(conversationId: string, counts: MetricsJson): void;
  searchLocal: SearchLocal;
}

const ANSWER_LIMIT_MS = SECOND_MS;
/** Time after the grace period for the last writes. */
const END_RESERVE_MS = 3 * SECOND_MS;

/** A worker in a separate process, which ends with this one, however this one ends. */
export class WorkerProcess {
  /** Name under which it claims turns. */
  readonly name: string;
  /** Resolves once it takes turns, with the number of turns taken over from dead workers. Rejects if it ends before. */
  readonly ready: Promise<number>;
  readonly ended: Promise<WorkerEnd>;
  readonly #child: ChildProcess;
  readonly #answers = new Map<number, Deferred<unknown>>();
  #lastId = 0;

  constructor(program: URL, task: WorkerTask, services?: WorkerServices) {
    this.name = task.name;
    const startedMs = performance.now();
    // A terminal's Ctrl+C reaches the whole process group: only this process must stop the worker, and only once.
    this.#child = fork(program, {
      detached: true,
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    exitWithParent(this.#child, 'KILL');
    const ready = new Deferred<number>();
    const ended = new Deferred<WorkerEnd>();
    this.ready = ready.promise;
    this.ended = ended.promise;
    this.ready.catch(() => undefined);
    const end = (exitCode: number | null, signal: NodeJS.Signals | null) => {
      const afterMs = performance.now() - startedMs;
      ready.reject(new Error(`The worker process ended before it was ready (${signal ?? `exit ${exitCode}`})`));
      for (const answer of this.#answers.values()) answer.reject(new Error('The worker process ended'));
      ended.resolve({ exitCode, signal, afterMs });
    };
    this.#child.once('exit', end);
    this.#child.once('error', () => end(null, null));
    this.#child.on('message', (message: FromWorker) => {
      if (message.kind === 'here') this.#send({ kind: 'begin', task });
      else if (message.kind === 'ready') ready.resolve(message.takenOver);
      else if (message.kind === 'failed') ready.reject(new Error(message.message));
      else if (message.kind === 'left') services?.onLeft(message.conversationId, message.counts);
      else if (message.kind === 'search') inBackground(() => this.#search(message, services));
      else this.#answers.get(message.id)?.resolve(message.value);
    });
  }

  get processId(): number | undefined {
    return this.#child.pid;
  }

  /** @throws Error when the worker does not answer within a second, or ends */
  async ask(question: WorkerQuestion): Promise<unknown> {
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = new Deferred<unknown>();
    this.#answers.set(id, answer);
    const timer = setTimeout(() => answer.reject(new Error('The worker process does not answer')), ANSWER_LIMIT_MS);
    this.#send({ kind: 'ask', id, question });
    try {
      return await answer.promise;
    } finally {
      clearTimeout(timer);
      this.#answers.delete(id);
    }
  }

  /** Runs the next turn of a conversation. */
  run(conversation: ConversationRef): void {
    this.#send({ kind: 'run', conversation });
  }

  /** Stops the worker in order within the grace period, and by force after it. */
  async stop(graceSec: number): Promise<void> {
    this.#send({ kind: 'stop', graceSec });
    const timer = setTimeout(() => this.kill(), graceSec * SECOND_MS + END_RESERVE_MS);
    await this.ended;
    clearTimeout(timer);
  }

  /** Sends `kill -9`, which no program can handle or ignore. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }

  async #search({ id, query }: Extract<FromWorker, { kind: 'search' }>, services?: WorkerServices): Promise<void> {
    // The process itself gives up a search that takes too long.
    const searching = services?.searchLocal(query, new AbortController().signal);
    const hits = await searching?.catch(() => undefined);
    this.#send({ kind: 'found', id, hits });
  }

  #send(message: ToWorker): void {
    // A disconnected worker has ended; its end is reported separately.
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }
}
