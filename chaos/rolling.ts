import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { KeyRing } from '../src/shared/crypto/key-ring.ts';
import type { RollChange } from './schedule.ts';
import { noteInjectedFault, type StopResult } from './inject-faults.ts';
import type { Instance, Testbed } from './testbed.ts';

/** Settings of every process that a roll changes, one after another. */
export interface Rolls {
  /** What each process starts with from then on. */
  settingsFor(change: RollChange): Record<string, string>;
  /** The id of the key that the next drop takes away; undefined before there is a newer one. */
  readonly oldKeyId: string | undefined;
  /** One roll after the other. */
  inTurn<T>(does: () => Promise<T>): Promise<T>;
}

/** @param secretKey what all processes began with */
export function createRolls(secretKey: string): Rolls {
  let newestKey = secretKey;
  let oldKey: string | undefined;
  let scope = 'member';
  let before: Promise<unknown> = Promise.resolve();
  return {
    get oldKeyId() {
      return oldKey === undefined ? undefined : new KeyRing([Buffer.from(oldKey, 'base64')]).currentKeyId;
    },
    inTurn(does) {
      const own = before.then(does);
      before = own.catch(() => undefined);
      return own;
    },
    settingsFor(change): Record<string, string> {
      if (change === 'group-scope') {
        scope = scope === 'member' ? 'group' : 'member';
        return { GROUP_SCOPE: scope };
      }
      if (change === 'drop-old-key') return { SECRET_KEY_PREVIOUS: '' };
      if (change === 'nothing') return {};
      const previous = newestKey;
      newestKey = randomBytes(32).toString('base64');
      oldKey = previous;
      return { SECRET_KEY: newestKey, SECRET_KEY_PREVIOUS: previous };
    },
  };
}

const UP_WITHIN_MS = 60_000;

export interface Restart {
  env?: Record<string, string>;
  main?: string;
}

/** Stops one process after another in order and waits until its next life is up, with new settings or of another build. @returns how the stops went */
export async function restartAll(testbed: Testbed, change: Restart): Promise<StopResult[]> {
  const stops: StopResult[] = [];
  for (const { process } of testbed.instances) {
    await untilUp(process);
    process.change(change);
    const injectedFault = noteInjectedFault(testbed, 'stop', { target: process.life });
    const result = await process.stop();
    await untilUp(process);
    injectedFault.untilMs = Date.now();
    if (result) stops.push({ instance: process.name, ...result });
  }
  return stops;
}

async function untilUp(process: Instance['process']): Promise<void> {
  for (let waitedMs = 0; process.state !== 'up' && waitedMs < UP_WITHIN_MS; waitedMs += 50) await pause(50);
}
