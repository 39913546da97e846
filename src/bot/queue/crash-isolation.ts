import { SECOND_MS } from '../../shared/clock.ts';

/**
 * Finds the turn that kills its workers, by group testing (SECURITY.md poison-turns). Pure: each function takes the state and returns
 * the next one. The state is shared by all workers (`isolation-store.ts`); times are milliseconds of Redis' clock.
 *
 * A death makes suspects of the turns that ran in the dead worker. Half of them run, the others wait; all other turns are not affected.
 * If a worker dies again, the suspects that ran in it are the next, smaller set, and the others are cleared. If it does not, those that
 * waited follow after a short time. A death in which no running suspect took part has a cause outside: everybody is cleared.
 */
export interface Isolation {
  /** The newest deaths, oldest first. */
  readonly deaths: readonly Death[];
  /** Disjoint sets of suspects. The first may run, and the second too once `isBothAdmitted`. The others wait. */
  readonly groups: readonly (readonly string[])[];
  readonly isBothAdmitted: boolean;
  /** When the last suspect of the newest admitted group began to run; undefined until one has begun. */
  readonly begunAtMs?: number;
  /** When the first group began to run; undefined until one of it has begun. */
  readonly firstBegunAtMs?: number;
  /** How long the suspects had run when they last died. */
  readonly lastRunMs: number;
  /** Consecutive deaths of the only suspect, with no other suspect beside it. */
  readonly soloDeaths: number;
  /** Deaths of suspects so far: each doubles the time for which the second group waits at most. */
  readonly rounds: number;
  /** Deaths that the suspects do not explain: none of them ran, or one that had been cleared did. */
  readonly outsideDeaths: number;
}

interface Death {
  readonly worker: string;
  readonly atMs: number;
  /** When it was reported: from then on other workers can take the turns. */
  readonly toldAtMs: number;
  /** The turns that ran in the worker; one that only waited is not among them. */
  readonly ran: readonly string[];
}

/** What a worker does with a turn that it has claimed. */
export type Admission = 'run' | 'wait' | 'give-up';

export const NO_ISOLATION: Isolation = {
  deaths: [],
  groups: [],
  isBothAdmitted: false,
  lastRunMs: 0,
  soloDeaths: 0,
  rounds: 0,
  outsideDeaths: 0,
};

/** Deaths with no other suspect beside it after which a turn is given up. */
export const SOLO_DEATHS_TO_GIVE_UP = 3;
/** Deaths from outside after which several poison turns at once are assumed: then the suspects of a death do not clear the others. */
const OUTSIDE_DEATHS_BEFORE_STRICT = 8;
/** A group that ran for this multiple of the time after which the last one died did not kill its worker. */
const SURVIVAL_FACTOR = 1.5;
/** The only suspect waits for this multiple before it runs again, so that deaths without it are seen. */
const CONTROL_FACTOR = 4;
const MIN_SURVIVAL_MS = SECOND_MS;
const MIN_CONTROL_MS = 4 * SECOND_MS;
const MAX_CONTROL_MS = 60 * SECOND_MS;
const MAX_SURVIVAL_MS = 30 * SECOND_MS;
/** Longest wait of the second group in the first round. */
const FIRST_ROUND_MS = 2 * SECOND_MS;
/** A death is reported this long after it at the latest, mostly: a group is believed only then. */
const REPORT_MS = 2 * SECOND_MS;
/** In strict mode the next group is larger than the one that survived by this factor. */
const GROWTH = 4;
const DEATHS_KEPT = SOLO_DEATHS_TO_GIVE_UP;

/** A worker died. A second report about the same worker adds to what ran in it. */
export function afterDeath(before: Isolation, death: Death): Isolation {
  const known = before.deaths.find(({ worker }) => worker === death.worker);
  if (known && known !== before.deaths.at(-1)) return before;
  const ran = [...new Set([...(known?.ran ?? []), ...death.ran])];
  if (ran.length === known?.ran.length) return before;
  const added = known ? ran.filter((turn) => !known.ran.includes(turn)) : ran;
  const deaths = [...before.deaths.filter((one) => one !== known), { ...death, ran }].slice(-DEATHS_KEPT);
  const next = { ...before, deaths };
  if (known) return joined(next, added);
  const judgement = judged(next, deaths.at(-1)!);
  return judgement === next ? before : judgement;
}

/** Turns of a death that were found late. They wait behind the suspects of the same death; where these are cleared, so are they. */
function joined(state: Isolation, added: readonly string[]): Isolation {
  const suspects = new Set(state.groups.flat());
  const fresh = added.filter((turn) => !suspects.has(turn));
  const isFirst = state.deaths.length === 1;
  if (!isFirst || fresh.length === 0) return state;
  const [active = [], waiting = [], ...others] = state.groups;
  return { ...state, groups: [active, [...waiting, ...fresh], ...others], soloDeaths: 0 };
}

function judged(before: Isolation, death: Death): Isolation {
  let state = before;
  const { groups } = state;
  if (groups.length === 0 && death.ran.length === 0) return before;
  if (groups.length === 0)
    return suspecting(state, halves(death.ran), { lastRunMs: 0, soloDeaths: aloneIn(death.ran) });
  const [first = [], second = []] = groups;
  const ranOf = (group: readonly string[]) => group.filter((turn) => death.ran.includes(turn));
  // The second group runs for a shorter time than the first one needed to be believed: the death is the second group's.
  const secondMs = death.atMs - (state.begunAtMs ?? death.atMs);
  const isTold = state.lastRunMs > 0 && survivalMs(state) >= neededMs(state);
  const isOfSecond = state.isBothAdmitted && isTold && secondMs <= survivalMs(state) && ranOf(second).length > 0;
  const tested = isOfSecond ? second : state.isBothAdmitted ? [...second, ...first] : first;
  const hit = ranOf(tested);
  if (hit.length === 0) return outside(state, death);
  const sinceMs = (isOfSecond ? state.begunAtMs : state.firstBegunAtMs) ?? death.atMs;
  const cleared = unsuspected(state, death);
  const others = isStrict(state) ? withoutTurns(groups, hit).concat([cleared]) : [];
  const wasClearedEarly = isStrict(state) && diedBefore(state, cleared);
  const isAgain = hit.length === 1 && tested.length === 1;
  const soloDeaths = isAgain ? state.soloDeaths + 1 : aloneIn(hit);
  const next = { lastRunMs: Math.max(0, death.atMs - sinceMs), soloDeaths };
  state = { ...state, rounds: state.rounds + 1, outsideDeaths: state.outsideDeaths + (wasClearedEarly ? 1 : 0) };
  if (soloDeaths < SOLO_DEATHS_TO_GIVE_UP) return suspecting(state, [...halves(hit), ...others], next);
  const common = commonTo(state.deaths);
  if (common.length <= 1) return suspecting(state, [hit, ...others], next);
  // Another turn ran beside it each time: it is as suspect, and they are tested apart.
  const strict = { ...state, outsideDeaths: OUTSIDE_DEATHS_BEFORE_STRICT };
  return suspecting(strict, [...halves(common), ...withoutTurns(others, common)], { ...next, soloDeaths: 0 });
}

/** No suspect that may run was in the dead worker. */
function outside(state: Isolation, death: Death): Isolation {
  const outsideDeaths = state.outsideDeaths + 1;
  if (outsideDeaths <= OUTSIDE_DEATHS_BEFORE_STRICT)
    return { ...suspecting(state, [], { lastRunMs: 0, soloDeaths: 0 }), outsideDeaths };
  const groups = [...state.groups, ...halves(unsuspected(state, death))].filter(({ length }) => length > 0);
  return { ...state, groups, soloDeaths: 0, outsideDeaths };
}

/** A worker that was reported dead is alive. What was concluded from its death is dropped. */
export function afterRetraction(state: Isolation, worker: string): Isolation {
  return state.deaths.some((death) => death.worker === worker) ? NO_ISOLATION : state;
}

/** A suspect begins to run. */
export function afterBegin(state: Isolation, turn: string, nowMs: number): Isolation {
  const [first = [], second = []] = state.groups;
  if (first.includes(turn)) return { ...state, firstBegunAtMs: state.firstBegunAtMs ?? nowMs, begunAtMs: nowMs };
  return state.isBothAdmitted && second.includes(turn) ? { ...state, begunAtMs: nowMs } : state;
}

/** A suspect has ended without a death: it is cleared. */
export function afterEnd(state: Isolation, turn: string): Isolation {
  if (!state.groups.some((group) => group.includes(turn))) return state;
  const [first = [], ...rest] = state.groups.map((group) => group.filter((one) => one !== turn));
  if (first.length > 0) return { ...state, groups: [first, ...rest] };
  return state.isBothAdmitted
    ? survived({ ...state, groups: [first, ...rest], isBothAdmitted: false })
    : survived({ ...state, groups: [first, ...rest] });
}

/** Time goes by: a group that has run for long enough lets the next one in. */
export function afterTime(state: Isolation, nowMs: number): Isolation {
  const { begunAtMs, groups, isBothAdmitted } = state;
  if (groups.length < 2 || isBothAdmitted || begunAtMs === undefined) return state;
  const ranMs = nowMs - begunAtMs;
  if (isStrict(state)) return ranMs < survivalMs(state) + REPORT_MS ? state : survived(state);
  return ranMs < survivalMs(state) ? state : { ...state, isBothAdmitted: true, begunAtMs: undefined };
}

/** @param crashes of the turn in all, which must have reached `maxCrashes` too before it is given up */
export function admissionOf(
  state: Isolation,
  { turn, crashes, maxCrashes, nowMs }: { turn: string; crashes: number; maxCrashes: number; nowMs: number },
): Admission {
  const [first = [], second = [], ...others] = state.groups;
  const isOnly = first.length === 1 && first[0] === turn;
  if (isOnly && state.soloDeaths > 0) {
    if (state.soloDeaths >= SOLO_DEATHS_TO_GIVE_UP && crashes >= maxCrashes) return 'give-up';
    const toldAtMs = state.deaths.at(-1)?.toldAtMs ?? 0;
    return nowMs - toldAtMs < controlMs(state) ? 'wait' : 'run';
  }
  if (others.some((group) => group.includes(turn))) return 'wait';
  return second.includes(turn) && !state.isBothAdmitted ? 'wait' : 'run';
}

/** The first group is cleared, and what comes next may run. */
function survived(state: Isolation): Isolation {
  const [first = [], ...rest] = state.groups;
  const waiting = state.isBothAdmitted ? rest.slice(1) : rest;
  const groups: string[][] = [];
  const size = isStrict(state) ? Math.max(1, first.length) * GROWTH : Number.POSITIVE_INFINITY;
  for (const group of waiting.filter(({ length }) => length > 0)) {
    const newest = groups[0];
    if (newest && groups.length === 1 && newest.length + group.length <= size) newest.push(...group);
    else groups.push([...group]);
  }
  return suspecting(state, groups, { lastRunMs: state.lastRunMs, soloDeaths: 0 });
}

function suspecting(
  state: Isolation,
  groups: readonly (readonly string[])[],
  { lastRunMs, soloDeaths }: Pick<Isolation, 'lastRunMs' | 'soloDeaths'>,
): Isolation {
  const { deaths, rounds, outsideDeaths } = state;
  const some = groups.filter(({ length }) => length > 0);
  return { deaths, groups: some, isBothAdmitted: false, lastRunMs, soloDeaths, rounds, outsideDeaths };
}

function isStrict({ outsideDeaths }: Isolation): boolean {
  return outsideDeaths >= OUTSIDE_DEATHS_BEFORE_STRICT;
}

function neededMs({ lastRunMs }: Isolation): number {
  return Math.min(Math.max(lastRunMs * SURVIVAL_FACTOR, MIN_SURVIVAL_MS), MAX_SURVIVAL_MS);
}

function survivalMs(state: Isolation): number {
  if (!isStrict(state)) return Math.min(neededMs(state), FIRST_ROUND_MS * 2 ** state.rounds);
  // A group that was cleared too early dies again outside of the suspects.
  const doubtMs = (state.outsideDeaths - OUTSIDE_DEATHS_BEFORE_STRICT) * SECOND_MS;
  return Math.min(Math.max(neededMs(state), doubtMs), MAX_SURVIVAL_MS);
}

function controlMs({ lastRunMs }: Isolation): number {
  return Math.min(Math.max(lastRunMs * CONTROL_FACTOR, MIN_CONTROL_MS), MAX_CONTROL_MS);
}

function aloneIn(turns: readonly string[]): number {
  return turns.length === 1 ? 1 : 0;
}

function halves(turns: readonly string[]): string[][] {
  const half = Math.ceil(turns.length / 2);
  return [turns.slice(0, half), turns.slice(half)];
}

function withoutTurns(groups: readonly (readonly string[])[], turns: readonly string[]): string[][] {
  return groups.map((group) => group.filter((turn) => !turns.includes(turn)));
}

/** What ran in the dead worker and is no suspect yet. */
function unsuspected({ groups }: Isolation, { ran }: Death): string[] {
  const suspects = new Set(groups.flat());
  return ran.filter((turn) => !suspects.has(turn));
}

function diedBefore({ deaths }: Isolation, turns: readonly string[]): boolean {
  return deaths.slice(0, -1).some(({ ran }) => ran.some((turn) => turns.includes(turn)));
}

function commonTo(deaths: readonly Death[]): string[] {
  const [first, ...others] = deaths;
  return (first?.ran ?? []).filter((turn) => others.every(({ ran }) => ran.includes(turn)));
}
