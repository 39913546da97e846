import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  admissionOf,
  afterBegin,
  afterDeath,
  afterEnd,
  afterTime,
  NO_ISOLATION,
  type Isolation,
} from '../../../src/bot/queue/crash-isolation.ts';

/** A deployment in steps of 100 ms. Each turn takes `answerSteps`; a poison turn kills its worker after `poisonSteps`. */
interface World {
  turns: number;
  poisons: number[];
  workers: number;
  answerSteps: number;
  poisonSteps: number;
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
const MAX_STEPS = 20_000;
const MAX_CRASHES = 5;
const RUNS = Number(process.env.RUNS ?? 300);

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
  const found: { atStep: number; atMs: number; worker: string; ran: string[] }[] = [];
  const result: Result = { condemned: [], answered: new Map(), deaths: 0, endedAtStep: 0 };
  const die = (worker: (typeof workers)[number], step: number) => {
    result.deaths += 1;
    found.push({
      atStep: step + DETECTION_STEPS,
      atMs: step * STEP_MS,
      worker: worker.name,
      ran: [...worker.running.keys()],
    });
    worker.lives += 1;
    worker.name = `${worker.name.split('.')[0]}.${worker.lives}`;
    worker.running = new Map();
    worker.upAt = step + DETECTION_STEPS;
  };
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const nowMs = step * STEP_MS;
    for (const death of found.filter(({ atStep }) => atStep === step)) {
      state = afterDeath(state, { worker: death.worker, atMs: death.atMs, toldAtMs: nowMs, ran: death.ran });
      for (const turn of death.ran) {
        crashes.set(turn, (crashes.get(turn) ?? 0) + 1);
        waiting.set(turn, step);
      }
    }
    state = afterTime(state, nowMs);
    const up = workers.filter(({ upAt }) => upAt <= step);
    let next = step;
    for (const turn of up.length > 0 ? [...waiting.keys()] : []) {
      const admission = admissionOf(state, { turn, crashes: crashes.get(turn) ?? 0, maxCrashes: MAX_CRASHES, nowMs });
      if (admission === 'wait') continue;
      waiting.delete(turn);
      if (admission === 'give-up') {
        result.condemned.push(turn);
        state = afterEnd(state, turn);
        continue;
      }
      up[next++ % up.length]!.running.set(turn, step);
      state = afterBegin(state, turn, nowMs);
    }
    for (const worker of up) {
      for (const [turn, since] of worker.running) {
        if (poisons.has(turn) && step - since >= world.poisonSteps) {
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
};
const kill = (maxStep: number) => fc.record({ step: fc.nat(maxStep), worker: fc.nat(2) });
const poisonsOf = ({ poisons, turns }: World) => [...new Set(poisons.map((index) => `t${index % turns}`))].sort();

test('condemns each poison turn and nothing else, in a bounded number of deaths [poison-turns]', () => {
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
      expect(deaths).toBeLessThanOrEqual(world.kills.length + 60 * poisons.length);
    }),
    { numRuns: RUNS },
  );
});

test('condemns nothing and answers everything when workers are killed again and again from outside [poison-turns]', () => {
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
