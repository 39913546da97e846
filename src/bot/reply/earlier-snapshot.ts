import { fieldsToRead } from '../domain/message-record.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { messageKey } from '../domain/partition-keys.ts';
import type { DeliveryId } from '../domain/ids.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { tryOpen } from '../../shared/crypto/decrypt-record.ts';

/** Marks that close what a growing answer has open. */
const CLOSING_MARKS = /(?<![\s*_~`])[\s*_~`]+$/;

interface EarlierSnapshotOptions {
  redis: RedisClient;
  keyRing: KeyRing;
  partition: number;
  deliveryId: DeliveryId;
  /** Under which purpose snapshots are sealed. */
  purpose: string;
}

/**
 * What a worker that died had shown of an answer. The one that goes on asks the model anew; while that says the same words again,
 * what people have read already is left standing.
 */
export class EarlierSnapshot {
  readonly #options: EarlierSnapshotOptions;
  #content: Promise<string> | undefined;
  #isOver = false;

  constructor(options: EarlierSnapshotOptions) {
    this.#options = options;
  }

  /** Whether this snapshot holds nothing but the beginning of what stands there. Reads it once; says no when it cannot. */
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
    // Broken or without its key, it cannot be compared with: then what is said now takes its place.
    return opened.kind === 'opened' ? opened.value : '';
  }
}
