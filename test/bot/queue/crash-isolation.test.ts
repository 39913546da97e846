import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { tries } from '../../support/tries.ts';
import {
  admissionOf,
  afterBegin,
  afterDeath,
  afterEnd,
  afterGiveUp,
  afterRetraction,
  NO_ISOLATION,
  type Isolation,
} from '../../../src/bot/queue/crash-isolation.ts';

/** A deployment in steps of 100 ms. Each turn takes `answerSteps`; a poison turn kills its worker after `poisonSteps`, or up to `lagSteps` later. */
interface World {
  turns: number;
  poisons: number[];
  workers: number;
  answerSteps: number;
  poisonSteps: number;
  lagSteps: number;
  /** Steps at which a worker freezes for longer than its claims last, and which one: it is reported dead, then alive. */
  freezes: { step: number; worker: number; forSteps: number }[];
  /** Steps at which a worker is killed from outside, and which one. */
  kills: { step: number; worker: number }[];
}

interface Result {
  condemned: string[];
  answered: Map<string, number>;
  deaths: number;
  endedAtStep: number;
}

const STEP_MS = 100;
const DETECTION_STEPS = 10;
const LEASE_STEPS = 90;
const MAX_STEPS = 20_000;
const MAX_CRASHES = 5;
const RUNS = tries(300);

function simulate(world: World): Result {
  let state: Isolation = NO_ISOLATION;
  const poisons = new Set(world.poisons.map((index) => `t${index % world.turns}`));
  const waiting = new Map(Array.from({ length: world.turns }, (_, index) => [`t${index}`, 0]));
  const crashes = new Map<string, number>();
  const workers = Array.from({ length: world.workers }, (_, index) => ({
    name: `w${index}.0`,
    lives: 0,
    upAt: 0,
    running: new Map<string, number>(),
  }));
  const alive: { atStep: number; worker: string; turns: string[] }[] = [];
  const found: { atStep: number; atMs: number; worker: string; ran: string[] }[] = [];
  const result: Result = { condemned: [], answered: new Map(), deaths: 0, endedAtStep: 0 };
  const freeze = (worker: (typeof workers)[number], step: number, forSteps: number) => {
    const turns = [...worker.running.keys()];
    const atStep = step + LEASE_STEPS;
    found.push({ atStep, atMs: atStep * STEP_MS, worker: worker.name, ran: turns });
    alive.push({ atStep: step + LEASE_STEPS + forSteps, worker: worker.name, turns });
    restart(worker, step + LEASE_STEPS + forSteps);
  };
  const restart = (worker: (typeof workers)[number], upAt: number) => {
    worker.lives += 1;
    worker.name = `${worker.name.split('.')[0]}.${worker.lives}`;
    worker.running = new Map();
    worker.upAt = upAt;
  };
  const die = (worker: (typeof workers)[number], step: number) => {
    result.deaths += 1;
    found.push({
      atStep: step + DETECTION_STEPS,
      atMs: step * STEP_MS,
      worker: worker.name,
      ran: [...worker.running.keys()],
    });
    restart(worker, step + DETECTION_STEPS);
  };
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const nowMs = step * STEP_MS;
    for (const death of found.filter(({ atStep }) => atStep === step)) {
      for (const turn of death.ran) {
        crashes.set(turn, (crashes.get(turn) ?? 0) + 1);
        waiting.set(turn, step);
      }
      const ran = death.ran.map((turn) => [turn, crashes.get(turn)!] as const);
      state = afterDeath(state, { worker: death.worker, atMs: death.atMs, ran });
    }
    for (const { worker, turns } of alive.filter(({ atStep }) => atStep === step)) {
      state = afterRetraction(state, worker);
      for (const turn of turns) crashes.set(turn, Math.max(0, (crashes.get(turn) ?? 0) - 1));
    }
    const up = workers.filter(({ upAt }) => upAt <= step);
    let next = step;
    for (const turn of up.length > 0 ? [...waiting.keys()] : []) {
      const worker = up[next++ % up.length]!;
      const claimed = { turn, worker: worker.name, crashes: crashes.get(turn) ?? 0, maxCrashes: MAX_CRASHES, nowMs };
      const admission = admissionOf(state, claimed);
      if (admission === 'wait') continue;
      waiting.delete(turn);
      if (admission === 'give-up') {
        result.condemned.push(turn);
        state = afterGiveUp(state, turn, nowMs);
        continue;
      }
      worker.running.set(turn, step);
      state = afterBegin(state, claimed);
    }
    for (const worker of up) {
      for (const [turn, since] of worker.running) {
        if (poisons.has(turn) && step - since >= world.poisonSteps + ((since * 7919) % (world.lagSteps + 1))) {
          die(worker, step);
          break;
        }
        if (!poisons.has(turn) && step - since >= world.answerSteps) {
          worker.running.delete(turn);
          result.answered.set(turn, step);
          state = afterEnd(state, turn);
        }
      }
    }
    for (const kill of world.kills) if (kill.step === step) die(workers[kill.worker % workers.length]!, step);
    for (const { step: atStep, worker, forSteps } of world.freezes) {
      const frozen = workers[worker % workers.length]!;
      if (atStep === step && frozen.upAt <= step) freeze(frozen, step, forSteps);
    }
    if (result.condemned.length + result.answered.size === world.turns) {
      result.endedAtStep = step;
      return result;
    }
  }
  throw new Error(
    `not everything ended: ${world.turns - result.condemned.length - result.answered.size} turns are left`,
  );
}

const sizes = {
  turns: fc.integer({ min: 1, max: 60 }),
  workers: fc.integer({ min: 1, max: 3 }),
  answerSteps: fc.integer({ min: 0, max: 60 }),
  poisonSteps: fc.integer({ min: 0, max: 30 }),
  lagSteps: fc.integer({ min: 0, max: 100 }),
  freezes: fc.array(fc.record({ step: fc.nat(600), worker: fc.nat(2), forSteps: fc.integer({ min: 5, max: 200 }) }), {
    maxLength: 3,
  }),
};
const kill = (maxStep: number) => fc.record({ step: fc.nat(maxStep), worker: fc.nat(2) });
const poisonsOf = ({ poisons, turns }: World) => [...new Set(poisons.map((index) => `t${index % turns}`))].sort();

test('condemns every poison turn and no other, within a bounded number of deaths [poison-turns]', () => {
  const worlds = fc.record({
    ...sizes,
    poisons: fc.uniqueArray(fc.nat(59), { maxLength: 4 }),
    kills: fc.array(kill(300), { maxLength: 2 }),
  });
  fc.assert(
    fc.property(worlds, (world) => {
      const poisons = poisonsOf(world);
      const { condemned, deaths } = simulate(world);
      expect(condemned.sort()).toEqual(poisons);
      expect(deaths).toBeLessThanOrEqual(
        world.kills.length + world.freezes.length + (world.lagSteps === 0 ? 64 : 100) * poisons.length,
      );
    }),
    { numRuns: RUNS },
  );
});

test('condemns no turn and answers all when workers are repeatedly killed from outside [poison-turns]', () => {
  const worlds = fc.record({
    ...sizes,
    poisons: fc.constant<number[]>([]),
    kills: fc
      .record({
        everySteps: fc.integer({ min: 5, max: 40 }),
        count: fc.integer({ min: 1, max: 30 }),
        worker: fc.nat(2),
      })
      .map(({ everySteps, count, worker }) =>
        Array.from({ length: count }, (_, index) => ({ step: everySteps * (index + 1), worker: worker + index })),
      ),
  });
  fc.assert(
    fc.property(worlds, (world) => {
      expect(simulate(world).condemned).toEqual([]);
    }),
    { numRuns: RUNS },
  );
});

test('a death that is taken back leaves the evidence against a suspect as it was [poison-turns]', () => {
  let state = NO_ISOLATION;
  let nowMs = 0;
  const begin = (turn: string, worker: string) => (state = afterBegin(state, { turn, worker, nowMs }));
  const die = (worker: string, ...turns: string[]) =>
    (state = afterDeath(state, { worker, atMs: nowMs, ran: turns.map((turn) => [turn, 4] as const) }));
  die('w1', 'suspect');
  for (const worker of ['w2', 'w3']) {
    begin('suspect', worker);
    nowMs += 1_000;
    die(worker, 'suspect');
  }
  die('w4', 'other');
  const evidence = () => ({ deaths: state.deaths, trial: state.suspects['suspect']?.trial });
  const before = evidence();
  expect(before.trial?.deaths).toBe(3);
  // The suspect has survived and is not blamed; then it is blamed beside the other one; then alone.
  for (const [worker, runMs, beside] of [
    ['w5', 60_000, ['other']],
    ['w6', 1_000, ['other']],
    ['w7', 1_000, []],
  ] as const) {
    begin('suspect', worker);
    nowMs += runMs;
    for (const turn of beside) begin(turn, worker);
    nowMs += 1_000;
    die(worker, 'suspect', ...beside);
    state = afterRetraction(state, worker);
    expect({ ...evidence(), trial: { ...state.suspects['suspect']?.trial, ranMs: before.trial?.ranMs } }).toEqual(
      before,
    );
  }
});
