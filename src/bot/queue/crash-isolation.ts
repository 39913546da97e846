import { MINUTE_MS, SECOND_MS } from '../../shared/clock.ts';

/**
 * Finds the turn that kills its workers, by group testing (SECURITY.md poison-turns). Pure: each function takes the state and
 * returns the next one. The state is shared by all workers (`isolation-store.ts`); times are milliseconds of the Redis clock.
 *
 * A turn becomes a suspect when it has crashed several times. When a worker dies, its suspects are divided into two cells. A
 * worker runs suspects of one cell at a time until they have survived, so that the next death blames at most half of them; the
 * halves run at the same time where there are two workers. Waiting is bounded. A suspect that was blamed alone runs without any
 * other suspect in its worker from then on. It is given up after several deaths, unless deaths without it are frequent enough to
 * explain its own.
 */
export interface Isolation {
  /** Names of the newest dead workers, oldest first: each death counts once, however many workers report it. */
  readonly deadWorkers: readonly string[];
  readonly deaths: number;
  /** Turns that crashed often and have not ended. */
  readonly suspects: Readonly<Record<string, Suspect>>;
  /** Suspects blamed for the newest death. */
  readonly lastBlamed: readonly string[];
  /** Two successive deaths had no suspect in common: one turn alone does not explain them. */
  readonly hasSeveralCauses: boolean;
  /** Number of the newest cell. */
  readonly cells: number;
}

interface Suspect {
  readonly cell: number;
  readonly suspectSinceMs: number;
  readonly lastDeath: {
    readonly worker: string;
    readonly atMs: number;
    /** How its trial counted the death: as the only suspect, or beside another one. Absent where it was not blamed. */
    readonly counted?: 'only' | 'beside';
  };
  /** Its shortest run that ended with a death. */
  readonly shortestRunMs: number;
  /** The current run, absent while it waits. */
  readonly run?: { readonly worker: string; readonly begunAtMs: number };
  /** Set once it alone was blamed for a death: from then on it runs without any other suspect in its worker. */
  readonly trial?: Trial;
}

interface Trial {
  /** Deaths of a worker in which it was the only suspect. */
  readonly deaths: number;
  /** How long it ran since the trial began, in total. */
  readonly ranMs: number;
  /** When the first of these runs began, and the number of deaths of all workers before. */
  readonly sinceMs: number;
  readonly deathsBefore: number;
}

export interface WorkerDeath {
  readonly worker: string;
  readonly atMs: number;
  /** What ran in the worker. Turns that only waited are not included. */
  readonly ran: readonly CrashedTurn[];
}

/** A turn that ran in a dead worker, with its number of crashes including this one. */
export type CrashedTurn = readonly [turn: string, crashes: number];

/** A turn that a worker has claimed. */
export interface ClaimedSuspect {
  turn: string;
  worker: string;
  crashes: number;
  /** Number of crashes before which the turn is not given up. */
  maxCrashes: number;
  nowMs: number;
}

/** What a worker does with a turn that it has claimed. */
export type Admission = 'run' | 'wait' | 'give-up';

export const NO_ISOLATION: Isolation = {
  deadWorkers: [],
  deaths: 0,
  suspects: {},
  lastBlamed: [],
  hasSeveralCauses: false,
  cells: 0,
};

/** Crashes that make a turn a suspect. */
const MIN_SUSPECT_CRASHES = 3;
/** A suspect that ran for this multiple of its shortest run did not kill its worker. */
const SURVIVAL_FACTOR = 2;
/** A death is noticed up to this long after it. */
const MIN_RUN_MS = SECOND_MS;
const MIN_SURVIVAL_MS = 2 * SECOND_MS;
const MAX_SURVIVAL_MS = 30 * SECOND_MS;
/** Maximum wait for another cell where one turn may explain all deaths. */
const MAX_WAIT_MS = MINUTE_MS;
/** Maximum wait where it does not: other causes could keep innocent turns waiting for ever. */
const SEVERAL_CAUSES_WAIT_MS = 5 * SECOND_MS;
/** That wait grows with the time for which the turn has been a suspect, so that several poison turns are found too. */
const WAIT_SHARE = 0.12;
/** Deaths as the only suspect after which a turn may be given up. */
export const SOLO_DEATHS_TO_GIVE_UP = 3;
/** A turn is given up when its deaths would be less probable than this, had they come at the rate of the other deaths. */
const MAX_CHANCE = 0.000_02;
/** The part of the deaths of other suspects, likely guilty ones, that does not count as deaths from outside. */
const EXPLAINED_SHARE = 0.3;
/** Until then it waits for this multiple of its own running time, so that the other deaths can be counted. */
const CONTROL_FACTOR = 2;
const MAX_CONTROL_MS = 8 * SECOND_MS;
/** The waits differ, so that they do not keep in step with periodic deaths. */
const CONTROL_JITTER = [1, 1.37, 0.81, 1.19, 0.93];
/** While no worker died without the suspect, it waits for this multiple of its mean running time. */
const FIRST_CONTROL_FACTOR = 4;
const MIN_FIRST_CONTROL_MS = 5 * SECOND_MS;
const MAX_FIRST_CONTROL_MS = 30 * SECOND_MS;
/** If no worker died in this time without the suspect, the suspect was the cause. */
const QUIET_MS = MINUTE_MS;
const DEAD_WORKERS_KEPT = 32;
/** A suspect without a run for this long has ended unnoticed. */
const FORGOTTEN_AFTER_MS = 10 * MINUTE_MS;

/** A worker died. Further reports about the same worker change nothing: a poison turn is in the next death too. */
export function afterDeath(before: Isolation, death: WorkerDeath): Isolation {
  const { worker, atMs } = death;
  if (before.deadWorkers.includes(worker)) return before;
  const blamed = blamedFor(before, death);
  const suspects: Record<string, Suspect> = {};
  for (const [turn, suspect] of Object.entries(before.suspects)) {
    if (!suspect.run && atMs - suspect.lastDeath.atMs > FORGOTTEN_AFTER_MS) continue;
    suspects[turn] =
      suspect.run?.worker === worker ? { ...suspect, run: undefined, lastDeath: { worker, atMs } } : suspect;
  }
  const isAlone = blamed.length === 1;
  const isOnly = isAlone && death.ran.every(([turn]) => turn === blamed[0] || !before.suspects[turn]);
  for (const [index, turn] of blamed.entries()) {
    const known = before.suspects[turn];
    const ranMs = Math.max(MIN_RUN_MS, atMs - (known?.run?.begunAtMs ?? atMs));
    suspects[turn] = {
      cell: before.cells + 1 + (index % 2),
      suspectSinceMs: known?.suspectSinceMs ?? atMs,
      lastDeath: { worker, atMs, counted: isOnly ? 'only' : 'beside' },
      // Where a suspect that had survived is blamed, the time to survive was too short.
      shortestRunMs: known && !hasSurvived(known, atMs) ? Math.min(known.shortestRunMs, ranMs) : ranMs,
      trial: trialAfter(known?.trial, { isAlone, isOnly, ranMs, atMs, deathsBefore: before.deaths }),
    };
  }
  return {
    deadWorkers: [...before.deadWorkers, worker].slice(-DEAD_WORKERS_KEPT),
    deaths: before.deaths + 1,
    suspects,
    lastBlamed: blamed.length > 0 ? blamed : before.lastBlamed,
    hasSeveralCauses: hasSeveralCauses(before, blamed),
    cells: before.cells + 2,
  };
}

/**
 * The suspects in the dead worker, without those that have survived. Turns that are not suspects yet become suspects if they
 * have crashed at least as often.
 */
function blamedFor({ suspects }: Isolation, { ran, atMs }: WorkerDeath): string[] {
  const suspected = ran.filter(([turn]) => suspects[turn]);
  const young = suspected.filter(([turn]) => !hasSurvived(suspects[turn]!, atMs));
  const blamed = young.length > 0 ? young : suspected;
  const minCrashes = Math.max(MIN_SUSPECT_CRASHES, ...blamed.map(([, crashes]) => crashes));
  const newSuspects = ran.filter(([turn, crashes]) => !suspects[turn] && crashes >= minCrashes);
  return [...blamed, ...newSuspects].map(([turn]) => turn);
}

function hasSeveralCauses({ suspects, lastBlamed, hasSeveralCauses: had }: Isolation, blamed: string[]): boolean {
  if (Object.keys(suspects).length === 0) return false;
  const stillSuspected = lastBlamed.filter((turn) => suspects[turn]);
  return had || (stillSuspected.length > 0 && !stillSuspected.some((turn) => blamed.includes(turn)));
}

/** A death with another suspect in the worker counts neither for the suspect nor against it. */
function trialAfter(
  before: Trial | undefined,
  death: { isAlone: boolean; isOnly: boolean; ranMs: number; atMs: number; deathsBefore: number },
): Trial | undefined {
  const { isAlone, isOnly, ranMs, atMs, deathsBefore } = death;
  if (!before && !isAlone) return undefined;
  const trial = before ?? { deaths: 0, ranMs: 0, sinceMs: atMs - ranMs, deathsBefore };
  if (isOnly) return { ...trial, deaths: trial.deaths + 1, ranMs: trial.ranMs + ranMs };
  return { ...trial, ranMs: trial.ranMs + ranMs, deathsBefore: trial.deathsBefore + 1 };
}

/** A worker that was reported dead is alive: its death is no evidence. */
export function afterRetraction(state: Isolation, worker: string): Isolation {
  if (!state.deadWorkers.includes(worker)) return state;
  const suspects = Object.entries(state.suspects).map(([turn, suspect]): [string, Suspect] => {
    const { lastDeath, trial } = suspect;
    if (lastDeath.worker !== worker || !trial || !lastDeath.counted) return [turn, suspect];
    const { deaths, deathsBefore } = trial;
    const corrected = lastDeath.counted === 'only' ? { deaths: deaths - 1 } : { deathsBefore: deathsBefore - 1 };
    return [turn, { ...suspect, trial: { ...trial, ...corrected } }];
  });
  return {
    ...state,
    deadWorkers: state.deadWorkers.filter((one) => one !== worker),
    deaths: state.deaths - 1,
    suspects: Object.fromEntries(suspects),
  };
}

/** A turn that has crashed before begins to run. */
export function afterBegin(
  state: Isolation,
  { turn, worker, nowMs }: Pick<ClaimedSuspect, 'turn' | 'worker' | 'nowMs'>,
): Isolation {
  const suspect = state.suspects[turn];
  if (!suspect) return state;
  return { ...state, suspects: { ...state.suspects, [turn]: { ...suspect, run: { worker, begunAtMs: nowMs } } } };
}

/** A turn has ended without a death: it is no suspect any more. */
export function afterEnd(state: Isolation, turn: string): Isolation {
  if (!state.suspects[turn]) return state;
  const { [turn]: _ended, ...suspects } = state.suspects;
  return { ...state, suspects };
}

/** A turn was given up: its deaths do not speak for other causes any more. */
export function afterGiveUp(state: Isolation, turn: string, nowMs: number): Isolation {
  const guilty = state.suspects[turn]?.trial;
  const { suspects, ...others } = afterEnd(state, turn);
  if (!guilty) return { suspects, ...others };
  const entries = Object.entries(suspects).map(([name, suspect]): [string, Suspect] => {
    const { trial } = suspect;
    if (!trial) return [name, suspect];
    const share = Math.min(1, (nowMs - trial.sinceMs) / Math.max(1, nowMs - guilty.sinceMs));
    const explained = Math.min(othersOf(state, trial), Math.floor(guilty.deaths * share));
    return [name, { ...suspect, trial: { ...trial, deathsBefore: trial.deathsBefore + explained } }];
  });
  return { ...others, suspects: Object.fromEntries(entries) };
}

/** A turn that has to wait in one worker may be admitted by another one. */
export function admissionOf(state: Isolation, claimed: ClaimedSuspect): Admission {
  const { turn, worker, crashes, maxCrashes, nowMs } = claimed;
  const suspect = state.suspects[turn];
  if (!suspect) return 'run';
  const { suspectSinceMs, lastDeath, cell, trial } = suspect;
  if (trial && isGuilty(state, trial, lastDeath.atMs, nowMs)) return crashes < maxCrashes ? 'run' : 'give-up';
  const waitedMs = nowMs - lastDeath.atMs;
  if (trial && waitedMs < controlMs(state, trial)) return 'wait';
  const beside = Object.values(state.suspects).filter((other) => other.run?.worker === worker);
  if (beside.length === 0) return 'run';
  if (waitedMs >= maxWaitMs(state, suspectSinceMs, nowMs, trial)) return 'run';
  if (trial) return 'wait';
  return beside.some((other) => other.cell !== cell && !hasSurvived(other, nowMs)) ? 'wait' : 'run';
}

function maxWaitMs(state: Isolation, suspectSinceMs: number, nowMs: number, trial: Trial | undefined): number {
  if (trial && trial.deaths >= SOLO_DEATHS_TO_GIVE_UP) return MAX_WAIT_MS;
  if (!state.hasSeveralCauses || workersOf(state) < 2) return MAX_WAIT_MS;
  return Math.max(SEVERAL_CAUSES_WAIT_MS, (nowMs - suspectSinceMs) * WAIT_SHARE);
}

/** Workers that run suspects. */
function workersOf({ suspects }: Isolation): number {
  return new Set(Object.values(suspects).flatMap(({ run }) => (run ? [run.worker] : []))).size;
}

/**
 * If the deaths came from outside, the suspect's own deaths would follow a Poisson distribution with the rate of the other
 * deaths in one worker. One more other death is assumed than was seen, because few observations prove little.
 */
function isGuilty(state: Isolation, trial: Trial, lastDeathAtMs: number, nowMs: number): boolean {
  const { deaths, ranMs, sinceMs } = trial;
  if (deaths < SOLO_DEATHS_TO_GIVE_UP) return false;
  const others = othersOf(state, trial);
  if (others === 0 && nowMs - lastDeathAtMs >= QUIET_MS) return true;
  const explained = Object.values(state.suspects).reduce((sum, { trial: other }) => {
    const isCounted = other && other !== trial && other.deaths >= SOLO_DEATHS_TO_GIVE_UP;
    return isCounted ? sum + other.deaths : sum;
  }, 0);
  const unexplained = others - EXPLAINED_SHARE * Math.min(explained, others);
  const expected = ((unexplained / Math.max(1, workersOf(state)) + 1) * ranMs) / Math.max(1, nowMs - sinceMs);
  return chanceOfAtLeast(deaths, expected) <= MAX_CHANCE;
}

/** Deaths since the trial began for which the suspect was not blamed. */
function othersOf({ deaths }: Isolation, trial: Trial): number {
  return deaths - trial.deathsBefore - trial.deaths;
}

/** How long a suspect on trial waits after its death, so that deaths without it are seen. */
function controlMs(state: Isolation, trial: Trial): number {
  const { deaths, ranMs } = trial;
  if (deaths === 0) return 0;
  const hasEnough = deaths >= SOLO_DEATHS_TO_GIVE_UP;
  if (othersOf(state, trial) > 0) {
    if (!hasEnough) return 0;
    return Math.min(CONTROL_FACTOR * ranMs, MAX_CONTROL_MS) * CONTROL_JITTER[deaths % CONTROL_JITTER.length]!;
  }
  if (hasEnough) return QUIET_MS;
  return Math.min(Math.max((FIRST_CONTROL_FACTOR * ranMs) / deaths, MIN_FIRST_CONTROL_MS), MAX_FIRST_CONTROL_MS);
}

/** Probability of at least `count` events where `expected` are expected. */
function chanceOfAtLeast(count: number, expected: number): number {
  let probability = Math.exp(-expected);
  let fewer = 0;
  for (let events = 0; events < count; events += 1) {
    fewer += probability;
    probability *= expected / (events + 1);
  }
  return 1 - fewer;
}

function hasSurvived({ run, shortestRunMs }: Suspect, nowMs: number): boolean {
  const survivalMs = Math.min(Math.max(shortestRunMs * SURVIVAL_FACTOR, MIN_SURVIVAL_MS), MAX_SURVIVAL_MS);
  return run !== undefined && nowMs - run.begunAtMs >= survivalMs;
}
