import { setTimeout as sleep } from 'node:timers/promises';
import { inBackground } from '../../shared/in-background.ts';
import { settledWithin } from '../../shared/settled-within.ts';
import { MINUTE_MS, monotonicMs, SECOND_MS } from '../../shared/clock.ts';
import type { ConversationRef } from '../domain/conversation.ts';
import type { DeliveryId } from '../domain/ids.ts';

/** A process that runs the turns it is given, and nothing else. */
export interface QuarantineProcess {
  /** Prefix of its claims. */
  readonly name: string;
  /** Resolves once it can run turns. Rejects if it ends before. */
  readonly ready: Promise<unknown>;
  /** Resolves when the process has ended, however it ended. */
  readonly ended: Promise<unknown>;
  run(conversation: ConversationRef): void;
  kill(): void;
  stop(graceSec: number): Promise<void>;
}

export interface QuarantineOptions {
  /** Starts a process. @param onLeft called when it has ended a turn of a conversation, or has given it back */
  start(onLeft: (conversationId: string) => void): QuarantineProcess;
  /** Ends a dead process's claim, so that the turn can be taken again at once. */
  endClaim(conversation: ConversationRef, processName: string): Promise<unknown>;
  /** Takes a turn whose claim was ended. @returns undefined if it is not open any more, or another worker has it */
  takeBack(turn: Pick<SuspectedTurn, 'conversation' | 'turnId'>): Promise<TurnHold | undefined>;
  /** Takes the turn in this process, which gives it up. */
  takeGuilty(conversation: ConversationRef): Promise<unknown>;
  /** Wakes a conversation for any worker. */
  wake(conversation: ConversationRef): Promise<unknown>;
}

/** This worker's claim on a suspect that waits for its process. Otherwise another worker would put it into its own quarantine. */
export interface TurnHold {
  /** Gives the turn up to the process that runs it next. @returns false if another worker has taken it meanwhile */
  release(): Promise<boolean>;
}

/** A turn that crashed often enough to be suspected of killing its workers. */
export interface SuspectedTurn {
  conversation: ConversationRef;
  turnId: DeliveryId;
  /** Absent while a process runs the turn. */
  hold?: TurnHold;
}

/** Suspects that share a process. */
interface Cell {
  /** By conversation: one turn of a conversation runs at a time. */
  readonly suspects: Map<string, SuspectedTurn>;
  process: QuarantineProcess | undefined;
  /** Whether further suspects may join: none of its processes has died. */
  readonly isOpen: boolean;
}

/** Number of crashes after which a turn runs in quarantine. One crash can be chance. */
export const SUSPECT_CRASHES = 2;
/** Deaths of a process in which a turn ran alone, after which the turn is guilty. */
export const SOLO_DEATHS_TO_GIVE_UP = 3;
/** Bounds the memory: such a turn may end in another process without this one noticing. */
const MAX_SOLO_TURNS = 1_000;
/** Bounds the memory. Further cells wait for a process. */
const MAX_PROCESSES = 6;
/** Bounds what one process runs at a time. */
const MAX_SUSPECTS = 100;
/** A start takes more than a second of processor time, which the turns of this worker need too. */
const MAX_STARTING = 2;
/** How long an idle process is kept for the next cell. */
const SPARE_FOR_MS = 10 * SECOND_MS;
/** Pause before a suspect that came back while its process still has it is looked at again. */
const LOOK_AGAIN_MS = SECOND_MS;
/** After this many failed starts in a row, suspects run in the worker itself for a while. */
const MAX_FAILED_STARTS = 3;
const UNAVAILABLE_FOR_MS = MINUTE_MS;

/**
 * Runs suspected turns in processes of their own, so that a turn that kills its process harms only other suspects
 * (SECURITY.md poison-turns). When a process dies, its suspects are divided between two new ones, so that a poison turn soon
 * runs alone and no longer delays the others. A turn that was alone in three dead processes is guilty. Deaths of this worker
 * do not count: its processes end with it.
 */
export class Quarantine {
  readonly #options: QuarantineOptions;
  readonly #cells = new Set<Cell>();
  readonly #waiting: Cell[] = [];
  /** Deaths of processes in which only this turn ran. */
  readonly #soloDeaths = new Map<DeliveryId, number>();
  #spare: { process: QuarantineProcess; timer: NodeJS.Timeout } | undefined;
  #processes = 0;
  #starting = 0;
  #failedStarts = 0;
  #unavailableUntilMs = Number.NEGATIVE_INFINITY;
  #isClosing = false;

  constructor(options: QuarantineOptions) {
    this.#options = options;
  }

  /** Whether enough processes died in which the turn ran alone. */
  isGuilty(turnId: DeliveryId): boolean {
    return (this.#soloDeaths.get(turnId) ?? 0) >= SOLO_DEATHS_TO_GIVE_UP;
  }

  /** Whether processes can be started now. */
  get isAvailable(): boolean {
    return !this.#isClosing && monotonicMs() >= this.#unavailableUntilMs;
  }

  /** Runs a turn that its caller holds. */
  take(suspect: SuspectedTurn): void {
    const { id } = suspect.conversation;
    if (this.#isClosing) return inBackground(() => this.#giveAway(suspect));
    const known = [...this.#cells].find(({ suspects }) => suspects.has(id));
    if (known) {
      const lost = known.suspects.get(id)?.hold;
      if (!lost) return inBackground(() => this.#lookAgain(suspect));
      known.suspects.set(id, suspect);
      return inBackground(() => lost.release());
    }
    const isAlone = this.#soloDeaths.has(suspect.turnId);
    const hasRoom = ({ isOpen, suspects }: Cell) => isOpen && suspects.size < MAX_SUSPECTS;
    const open = isAlone ? undefined : [...this.#cells].find(hasRoom);
    if (!open) return this.#isolate([suspect], !isAlone);
    open.suspects.set(id, suspect);
    if (open.process) inBackground(() => this.#runWhenReady(open, suspect));
  }

  /** A guilty turn was given up. */
  forget(turnId: DeliveryId): void {
    this.#soloDeaths.delete(turnId);
  }

  /** Ends all processes. Turns that have not ended then are given to other workers. */
  async close(graceSec: number): Promise<void> {
    this.#isClosing = true;
    const processes = [...this.#cells].flatMap(({ process }) => (process ? [process] : []));
    if (this.#spare) processes.push(this.#spare.process);
    clearTimeout(this.#spare?.timer);
    await Promise.all(processes.map((process) => process.stop(graceSec)));
    const handOvers = [...this.#cells].flatMap(({ suspects, process }) =>
      [...suspects.values()].map(async (suspect) => {
        if (process) await this.#options.endClaim(suspect.conversation, process.name);
        await this.#giveAway(suspect);
      }),
    );
    await settledWithin(handOvers, SECOND_MS);
  }

  #isolate(suspects: readonly SuspectedTurn[], isOpen: boolean): void {
    const cell: Cell = {
      suspects: new Map(suspects.map((one) => [one.conversation.id, one])),
      process: undefined,
      isOpen,
    };
    this.#cells.add(cell);
    this.#place(cell);
  }

  /** Gives a cell a process, or lets it wait for one. */
  #place(cell: Cell): void {
    if (this.#isClosing) return;
    const spare = this.#spare;
    const isFull = this.#processes >= MAX_PROCESSES || this.#starting >= MAX_STARTING;
    if (!spare && isFull) return void this.#waiting.push(cell);
    if (spare) {
      clearTimeout(spare.timer);
      this.#spare = undefined;
    }
    try {
      cell.process = spare?.process ?? this.#start();
    } catch {
      // The system has no memory for another process.
      this.#cells.delete(cell);
      return inBackground(() => this.#afterFailedStart([...cell.suspects.values()], cell.isOpen));
    }
    for (const suspect of cell.suspects.values()) inBackground(() => this.#runWhenReady(cell, suspect));
  }

  #start(): QuarantineProcess {
    const process = this.#options.start((conversationId) => this.#onLeft(process, conversationId));
    this.#processes += 1;
    this.#starting += 1;
    const started = process.ready.then(
      () => {
        this.#starting -= 1;
        this.#failedStarts = 0;
        this.#placeNext();
        return true;
      },
      () => {
        this.#starting -= 1;
        process.kill();
        return false;
      },
    );
    inBackground(async () => {
      await process.ended;
      this.#processes -= 1;
      await this.#onEnd(process, await started);
    });
    return process;
  }

  async #runWhenReady(cell: Cell, { conversation }: SuspectedTurn): Promise<void> {
    const { process } = cell;
    if (!process) return;
    const hasStarted = await process.ready.then(
      () => true,
      () => false,
    );
    // A process that does not start is handled when it ends.
    const suspect = cell.suspects.get(conversation.id);
    if (!hasStarted || this.#isClosing || cell.process !== process || !suspect) return;
    const { hold } = suspect;
    delete suspect.hold;
    // If Redis does not answer, the process finds out whether the turn is free.
    if ((await hold?.release().catch(() => true)) === false) this.#onLeft(process, conversation.id);
    else process.run(conversation);
  }

  #onLeft(process: QuarantineProcess, conversationId: string): void {
    const cell = this.#cellOf(process);
    const suspect = cell?.suspects.get(conversationId);
    if (!cell || !suspect) return;
    cell.suspects.delete(conversationId);
    this.#soloDeaths.delete(suspect.turnId);
    if (cell.suspects.size > 0) return;
    this.#cells.delete(cell);
    cell.process = undefined;
    this.#reuse(process);
  }

  /** A process whose suspects have all ended is sound. */
  #reuse(process: QuarantineProcess): void {
    if (this.#isClosing) return;
    const next = this.#waiting.shift();
    if (!next && this.#spare) return inBackground(() => process.stop(0));
    const timer = setTimeout(() => {
      this.#spare = undefined;
      inBackground(() => process.stop(0));
    }, SPARE_FOR_MS);
    this.#spare = { process, timer };
    if (next) this.#place(next);
  }

  async #onEnd(process: QuarantineProcess, hasStarted: boolean): Promise<void> {
    if (this.#spare?.process === process) {
      clearTimeout(this.#spare.timer);
      this.#spare = undefined;
    }
    if (this.#isClosing) return;
    try {
      await this.#onCellDeath(process, hasStarted);
    } finally {
      this.#placeNext();
    }
  }

  #placeNext(): void {
    const next = this.#waiting.shift();
    if (next) this.#place(next);
  }

  async #onCellDeath(process: QuarantineProcess, hasStarted: boolean): Promise<void> {
    const cell = this.#cellOf(process);
    if (!cell) return;
    this.#cells.delete(cell);
    const suspects = [...cell.suspects.values()];
    if (!hasStarted) return this.#afterFailedStart(suspects, cell.isOpen);
    const waiting = suspects.filter(({ hold }) => hold);
    if (waiting.length > 0) this.#isolate(waiting, cell.isOpen);
    const ran = suspects.filter(({ hold }) => !hold);
    await Promise.all(ran.map(({ conversation }) => this.#options.endClaim(conversation, process.name)));
    const [only] = ran;
    if (only && ran.length === 1) {
      this.#noteSoloDeath(only.turnId);
      if (this.isGuilty(only.turnId)) {
        await this.#options.takeGuilty(only.conversation);
        return;
      }
    }
    const takenBack = await Promise.all(
      ran.map(async ({ conversation, turnId }) => {
        const hold = await this.#options.takeBack({ conversation, turnId });
        return hold ? [{ conversation, turnId, hold }] : [];
      }),
    );
    const open = takenBack.flat();
    if (this.#isClosing) {
      await Promise.all(open.map((suspect) => this.#giveAway(suspect)));
      return;
    }
    // The half that comes first runs beside the other one, not before it.
    const half = Math.ceil(open.length / 2);
    for (const part of [open.slice(0, half), open.slice(half)]) if (part.length > 0) this.#isolate(part, false);
  }

  #noteSoloDeath(turnId: DeliveryId): void {
    const [oldest] = this.#soloDeaths.keys();
    if (oldest !== undefined && this.#soloDeaths.size >= MAX_SOLO_TURNS) this.#soloDeaths.delete(oldest);
    this.#soloDeaths.set(turnId, (this.#soloDeaths.get(turnId) ?? 0) + 1);
  }

  /** Lets any worker take the turn. */
  async #giveAway({ conversation, hold }: SuspectedTurn): Promise<void> {
    await hold?.release();
    await this.#options.wake(conversation);
  }

  async #afterFailedStart(suspects: readonly SuspectedTurn[], isOpen: boolean): Promise<void> {
    this.#failedStarts += 1;
    if (this.#failedStarts < MAX_FAILED_STARTS) return this.#isolate(suspects, isOpen);
    this.#failedStarts = 0;
    this.#unavailableUntilMs = monotonicMs() + UNAVAILABLE_FOR_MS;
    for (const cell of this.#waiting.splice(0)) {
      this.#cells.delete(cell);
      for (const suspect of cell.suspects.values()) await this.#giveAway(suspect);
    }
    for (const suspect of suspects) await this.#giveAway(suspect);
  }

  /**
   * The turn is ending in its process right now, or its claim has run out: the process notices that it lost the turn and leaves
   * it, or it is blocked and will be killed.
   */
  async #lookAgain(suspect: SuspectedTurn): Promise<void> {
    await suspect.hold?.release();
    await sleep(LOOK_AGAIN_MS, undefined, { ref: false });
    if (!this.#isClosing) await this.#options.wake(suspect.conversation);
  }

  #cellOf(process: QuarantineProcess): Cell | undefined {
    return [...this.#cells].find((cell) => cell.process === process);
  }
}
