import { afterEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { setTimeout as sleep } from 'node:timers/promises';
import { Deferred } from '../../../src/shared/deferred.ts';
import { conversationOf, type ConversationRef } from '../../../src/bot/domain/conversation.ts';
import { asDeliveryId } from '../../../src/bot/domain/ids.ts';
import {
  Quarantine,
  SOLO_DEATHS_TO_GIVE_UP,
  type QuarantineProcess,
  type TurnHold,
} from '../../../src/bot/queue/quarantine.ts';
import { messageOf, until } from './worker-fixture.ts';
import { tries } from '../../support/tries.ts';

/** What a process does with a turn. */
type Fate = 'kills' | 'ends' | 'hangs';

interface World {
  quarantine: Quarantine;
  processes: TestProcess[];
  guilty: string[];
  ended: string[];
  woken: string[];
  /** Claims that were ended, as `process/conversation`. */
  claimsEnded: string[];
  /** Conversations whose turns the worker holds now. */
  held: Set<string>;
}

class TestProcess implements QuarantineProcess {
  readonly #ended = new Deferred();
  readonly ended = this.#ended.promise;
  readonly name: string;
  readonly world: { fateOf(id: string): Fate; left(id: string): void };
  readonly ready: Promise<unknown>;
  readonly running = new Set<string>();
  isDead = false;
  isStopped = false;

  /** @param startsWithinMs false if it never does */
  constructor(name: string, world: TestProcess['world'], startsWithinMs: number | false) {
    this.name = name;
    this.world = world;
    this.ready = startsWithinMs === false ? Promise.reject(new Error('it does not start')) : sleep(startsWithinMs);
    this.ready.catch(() => undefined);
  }

  run({ id }: ConversationRef): void {
    if (this.isDead) return;
    this.running.add(id);
    const fate = this.world.fateOf(id);
    if (fate === 'hangs') return;
    setTimeout(
      () => {
        if (this.isDead) return;
        if (fate === 'kills') return this.kill();
        this.running.delete(id);
        this.world.left(id);
      },
      fate === 'kills' ? 1 : 3,
    );
  }

  kill(): void {
    this.isDead = true;
    this.#ended.resolve();
  }

  async stop(): Promise<void> {
    this.isStopped = !this.isDead;
    this.kill();
  }
}

const worlds: World[] = [];
afterEach(async () => {
  await Promise.all(worlds.splice(0).map(({ quarantine }) => quarantine.close(0)));
});

function createWorld(fateOf: (id: string) => Fate, starts = () => true, startsWithinMs = 1): World {
  const world: Omit<World, 'quarantine'> = {
    processes: [],
    guilty: [],
    ended: [],
    woken: [],
    claimsEnded: [],
    held: new Set(),
  };
  const quarantine = new Quarantine({
    start(onLeft) {
      const left = (id: string) => {
        world.ended.push(id);
        onLeft(id);
      };
      const process = new TestProcess(`p${world.processes.length}`, { fateOf, left }, starts() && startsWithinMs);
      world.processes.push(process);
      return process;
    },
    endClaim: async ({ id }, name) => void world.claimsEnded.push(`${name}/${id}`),
    takeBack: async ({ conversation: { id } }) => holdIn(world, id),
    takeGuilty: async ({ id }) => void world.guilty.push(id),
    wake: async ({ id }) => void world.woken.push(id),
  });
  const all = { ...world, quarantine };
  worlds.push(all);
  return all;
}

function holdIn({ held }: Pick<World, 'held'>, id: string): TurnHold {
  held.add(id);
  return { release: async () => held.delete(id) };
}

const suspectOf = (name: string) => ({
  conversation: conversationOf(messageOf(name, 'q'), 'member'),
  turnId: asDeliveryId(name.padEnd(40, '0')),
});
const deathsOf = ({ processes }: World) => processes.filter(({ isDead, isStopped }) => isDead && !isStopped).length;

describe('quarantine [poison-turns]', () => {
  test('property: every poison turn is found within few deaths, and every innocent ends, whatever else kills a process', async () => {
    const run = fc.asyncProperty(
      fc.uniqueArray(fc.nat(40), { minLength: 1, maxLength: 30 }),
      fc.array(fc.boolean(), { minLength: 30, maxLength: 30 }),
      fc.array(fc.nat(10), { maxLength: SOLO_DEATHS_TO_GIVE_UP - 1 }),
      async (numbers, isPoison, killsFromOutside) => {
        const suspects = numbers.map((number, index) => ({
          ...suspectOf(`u${number}`),
          kills: index < 3 && isPoison[index] === true,
        }));
        const kills = new Map(suspects.map((one) => [one.conversation.id as string, one.kills]));
        const world = createWorld((id) => (kills.get(id) === true ? 'kills' : 'ends'));
        for (const suspect of suspects) world.quarantine.take(suspect);
        for (const at of killsFromOutside) {
          await sleep(1);
          world.processes[at]?.kill();
        }
        const poison = suspects.filter((one) => one.kills).length;
        await until(() => world.guilty.length + world.ended.length >= suspects.length, 10_000);
        expect(world.guilty.map((id) => kills.get(id))).toEqual(world.guilty.map(() => true));
        expect(new Set([...world.guilty, ...world.ended]).size).toBe(suspects.length);
        const halvings = Math.ceil(Math.log2(suspects.length)) + 1;
        expect(deathsOf(world)).toBeLessThanOrEqual(
          poison * (halvings + SOLO_DEATHS_TO_GIVE_UP) + killsFromOutside.length,
        );
        await world.quarantine.close(0);
      },
    );
    await fc.assert(run, { numRuns: tries(100) });
  }, 120_000);

  test('ends the claims of a dead process before its turns run again, each half in a process of its own', async () => {
    const world = createWorld(() => 'hangs');
    const names = ['a', 'b', 'c', 'd'];
    for (const name of names) world.quarantine.take(suspectOf(name));
    await until(() => world.processes[0]?.running.size === 4);
    world.processes[0]?.kill();
    await until(
      () => world.processes.length === 3 && world.processes.slice(1).every(({ running }) => running.size === 2),
    );
    expect(world.claimsEnded).toEqual(names.map((name) => `p0/${suspectOf(name).conversation.id}`));
    expect(new Set(world.processes.slice(1).flatMap(({ running }) => [...running])).size).toBe(4);
  });

  test('a turn is guilty only after the third death in which it was alone, and forgotten after it was given up', async () => {
    const world = createWorld(() => 'hangs');
    const { turnId, conversation } = suspectOf('a');
    world.quarantine.take({ turnId, conversation });
    for (let death = 1; death <= SOLO_DEATHS_TO_GIVE_UP; death += 1) {
      await until(() => world.processes.length === death && world.processes.at(-1)?.running.size === 1);
      expect(world.quarantine.isGuilty(turnId)).toBe(false);
      world.processes.at(-1)?.kill();
    }
    await until(() => world.guilty.length === 1);
    expect(world.quarantine.isGuilty(turnId)).toBe(true);
    world.quarantine.forget(turnId);
    expect(world.quarantine.isGuilty(turnId)).toBe(false);
  });

  test('looks again at a turn that comes back while its process still has it', async () => {
    const world = createWorld(() => 'hangs');
    const suspect = suspectOf('slow');
    world.quarantine.take(suspect);
    await until(() => world.processes[0]?.running.size === 1);
    world.quarantine.take(suspect);
    await until(() => world.woken.length === 1);
    // The process notices that it has lost the turn.
    world.processes[0]?.world.left(suspect.conversation.id);
    world.quarantine.take(suspect);
    await until(() => world.processes[0]?.running.size === 1);
    expect(world.woken).toEqual([suspect.conversation.id]);
    expect(deathsOf(world)).toBe(0);
  });

  test('does not kill a process that is still starting when another wake brings its turn back', async () => {
    const world = createWorld(
      () => 'ends',
      () => true,
      700,
    );
    world.quarantine.take(suspectOf('a'));
    world.quarantine.take(suspectOf('a'));
    await until(() => world.ended.length === 1);
    expect(deathsOf(world)).toBe(0);
  });

  test('puts later suspects into a process that has not died, and starts two processes at a time', async () => {
    const world = createWorld(
      () => 'hangs',
      () => true,
      50,
    );
    world.quarantine.take(suspectOf('a'));
    await until(() => world.processes[0]?.running.size === 1);
    for (let count = 0; count < 100; count += 1) world.quarantine.take(suspectOf(`s${count}`));
    await until(() => world.processes[1]?.running.size === 1);
    expect(world.processes.map(({ running }) => running.size)).toEqual([100, 1]);
    for (const process of world.processes) process.kill();
    // Two halves and the one that ran alone.
    await until(() => world.processes.length === 4);
    expect(world.processes.filter(({ isDead, running }) => !isDead && running.size === 0)).toHaveLength(2);
    await until(() => world.processes.length === 5);
  });

  test('uses an idle process again, and never more than six at a time', async () => {
    const world = createWorld(() => 'hangs');
    for (let count = 0; count < 8; count += 1) world.quarantine.take(suspectOf(`s${count}`));
    const alive = () => world.processes.filter(({ isDead, running }) => !isDead && running.size > 0);
    // Each death divides a cell: 8, then 4 and 4, and so on, until seven cells need a process.
    for (let cells = 1; cells < 7; cells += 1) {
      await until(() => alive().length === cells);
      alive()
        .find(({ running }) => running.size > 1)
        ?.kill();
    }
    await until(() => alive().length === 6);
    const [idle] = alive();
    const [done = ''] = [...(idle?.running ?? [])];
    for (const id of [...(idle?.running ?? [])]) {
      idle?.running.delete(id);
      idle?.world.left(id);
    }
    await until(() => idle?.running.size === 1 && !idle.running.has(done));
    expect(alive()).toHaveLength(6);
    expect(new Set(alive().flatMap(({ running }) => [...running])).size + world.ended.length).toBe(8);
  });

  test('gives its turns to any worker while no process can be started', async () => {
    const world = createWorld(
      () => 'ends',
      () => false,
    );
    world.quarantine.take(suspectOf('a'));
    await until(() => world.woken.length === 1);
    expect(world.quarantine.isAvailable).toBe(false);
    expect(world.guilty).toEqual([]);
  });

  test('gives its turns to any worker while the system refuses every new process', async () => {
    const world = createWorld(
      () => 'ends',
      () => {
        throw new Error('spawn ENOMEM');
      },
    );
    for (let count = 0; count < 8; count += 1) world.quarantine.take(suspectOf(`s${count}`));
    await until(() => world.woken.length === 8);
    expect(world.guilty).toEqual([]);
  });

  test('gives all turns that it still has to other workers when it is closed', async () => {
    const world = createWorld(() => 'hangs');
    for (let count = 0; count < 3; count += 1) world.quarantine.take(suspectOf(`s${count}`));
    await until(() => world.processes[0]?.running.size === 3);
    await world.quarantine.close(0);
    world.quarantine.take(suspectOf('late'));
    await until(() => world.woken.length === 4);
    expect(world.claimsEnded).toHaveLength(3);
    expect(world.processes.every(({ isDead }) => isDead)).toBe(true);
  });
});
