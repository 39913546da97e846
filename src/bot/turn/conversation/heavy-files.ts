import { HOUR_MS, MINUTE_MS } from '../../../shared/clock.ts';
import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { loadScript } from '../../../shared/redis/lua-script.ts';
import type { RedisClient } from '../../../shared/redis/redis.ts';
import type { PersonId } from '../../domain/ids.ts';
import { heavyFilesKey, heavyFilesWaitKey } from '../../domain/partition-keys.ts';

/** Heavy files allowed without a wait. */
const FREE_FILES = 2;
const FIRST_WAIT_MS = MINUTE_MS;
const MAX_WAIT_MS = HOUR_MS;
/**
 * Time without another heavy file after which heavy files are forgotten; longer than the longest wait, so that waits keep
 * growing.
 */
const LIFE_MS = 2 * HOUR_MS;
const PURPOSE = 'heavy-files';

const noteScript = loadScript(import.meta.url, './scripts/note-heavy-file.lua', {
  keys: ['files', 'wait'],
  args: ['mediaId', 'lifeMs', 'freeFiles', 'firstMs', 'maxMs'],
});

/**
 * Counts documents that take too much time or memory to read, per person over all chats. Repeated heavy documents delay that
 * person's further files (SECURITY.md heavy-files).
 */
export class HeavyFiles {
  readonly #redis: RedisClient;
  readonly #keyRing: KeyRing;

  constructor(redis: RedisClient, keyRing: KeyRing) {
    this.#redis = redis;
    this.#keyRing = keyRing;
  }

  /** @returns remaining time in which files of this person are not read, in milliseconds; undefined if there is no wait */
  async waitMs(personId: PersonId): Promise<number | undefined> {
    const leftMs = await this.#redis.pttl(heavyFilesWaitKey(this.#nameOf(personId)));
    return leftMs > 0 ? leftMs : undefined;
  }

  /** Records a document that was too heavy to read. */
  async note(personId: PersonId, mediaId: string): Promise<void> {
    const name = this.#nameOf(personId);
    await noteScript.run(
      this.#redis,
      { files: heavyFilesKey(name), wait: heavyFilesWaitKey(name) },
      { mediaId, lifeMs: LIFE_MS, freeFiles: FREE_FILES, firstMs: FIRST_WAIT_MS, maxMs: MAX_WAIT_MS },
    );
  }

  #nameOf(personId: PersonId): string {
    return this.#keyRing.pseudonym(PURPOSE, personId);
  }
}
