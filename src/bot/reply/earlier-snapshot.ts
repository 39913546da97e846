import { fieldsToRead } from '../domain/message-record.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { messageKey } from '../domain/partition-keys.ts';
import type { DeliveryId } from '../domain/ids.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { tryOpen } from '../../shared/crypto/decrypt-record.ts';

/** Markdown marks that close open formatting at the end of a growing answer. */
const CLOSING_MARKS = /(?<![\s*_~`])[\s*_~`]+$/;

interface EarlierSnapshotOptions {
  redis: RedisClient;
  keyRing: KeyRing;
  partition: number;
  deliveryId: DeliveryId;
  /** Key-ring purpose under which snapshots are sealed. */
  purpose: string;
}

/**
 * The last snapshot shown by a dead worker. The next worker asks the model again; while the new answer repeats the same
 * words, the visible text stays unchanged.
 */
export class EarlierSnapshot {
  readonly #options: EarlierSnapshotOptions;
  #content: Promise<string> | undefined;
  #isOver = false;

  constructor(options: EarlierSnapshotOptions) {
    this.#options = options;
  }

  /** Whether this snapshot is a prefix of the stored one. Reads the stored one once; returns false if that fails. */
  async holds(snapshot: string): Promise<boolean> {
    if (this.#isOver) return false;
    this.#content ??= this.#read();
    const earlier = await this.#content.catch(() => '');
    const isWithin = snapshot.length < earlier.length && earlier.startsWith(snapshot.replace(CLOSING_MARKS, ''));
    this.#isOver = !isWithin;
    return isWithin;
  }

  async #read(): Promise<string> {
    const { redis, keyRing, partition, deliveryId, purpose } = this.#options;
    const sealed = await redis.hget(messageKey(partition, deliveryId), ...fieldsToRead('content'));
    if (typeof sealed !== 'string' || sealed === '') return '';
    const opened = tryOpen(() => keyRing.open(purpose, deliveryId, sealed));
    // A damaged snapshot, or one whose key is missing, cannot be compared: the new text replaces it.
    return opened.kind === 'opened' ? opened.value : '';
  }
}
