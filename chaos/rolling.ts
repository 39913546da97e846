import { randomBytes } from 'node:crypto';
import { KeyRing } from '../src/shared/crypto/key-ring.ts';

/** Changes made by an orderly restart of every process, one after another. */
export type RollChange = 'nothing' | 'new-key' | 'drop-old-key' | 'group-scope';

/** Settings of all processes that a rolling restart changes, one process after another. */
export interface Rolls {
  /** What each process starts with from then on. */
  settingsFor(change: RollChange): Record<string, string>;
  /** Id of the key that the next drop removes; undefined before there is a newer one. */
  readonly oldKeyId: string | undefined;
  /** One rolling restart after the other. */
  inTurn<T>(does: () => Promise<T>): Promise<T>;
}

/** @param secretKey of all processes at the beginning */
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
