import { asError } from '../../shared/coded-error.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../shared/clock.ts';
import { recordWith, tryOpenJson } from '../../shared/crypto/decrypt-record.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { settledWithin } from '../../shared/settled-within.ts';
import type { Log } from '../../shared/log.ts';
import { loadScript } from '../../shared/redis/lua-script.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import type { ConversationRef } from '../domain/conversation.ts';
import type { DeliveryId } from '../domain/ids.ts';
import { fieldsToRead, postFieldOf } from '../domain/message-record.ts';
import { messageKey, RECONCILIATION_KEYS } from '../domain/partition-keys.ts';
import type { PlatformName } from '../domain/platform-name.ts';
import type { ReplySnapshot } from '../domain/reply.ts';
import type { Platform, PushReplies, ReplyTraits } from '../platforms/platform.ts';
import { createPostLedger, postKeyOf } from './post-ledger.ts';
import { PostReconciler } from './reconcile-post.ts';

/** Maximum stored checks. A platform that leaves more posts uncertain is down. */
const MAX_CHECKS = 10_000;
const MAX_AT_ONCE = 20;
/** Claim time of a check; longer than its calls take. An unfinished check is repeated after it. */
const CLAIMED_MS = 30 * SECOND_MS;
/** A check that the platform still does not carry out at this age is dropped. */
const MAX_AGE_MS = 15 * MINUTE_MS;
const PURPOSE = 'reconciliation';
const VERSION = 1;
const readCheck = (value: unknown) => {
  const check = recordWith<AnswerCheck & { version: number }>('platform', 'deliveryId', 'target')(value);
  return check?.version === VERSION ? check : undefined;
};

const addScript = loadScript(import.meta.url, './scripts/add-check.lua', {
  constants: { MAX_CHECKS, KEPT_MS: DAY_MS },
  keys: ['due', 'checks'],
  args: ['id', 'sealed', 'delayMs'],
  answer: 'flag',
});
const takeScript = loadScript(import.meta.url, './scripts/take-checks.lua', {
  constants: { CLAIMED_MS },
  keys: ['due', 'checks'],
  args: ['limit'],
  rows: { id: 'text', storedMs: 'text', sealed: 'text', ageMs: 'number' },
});
const endScript = loadScript(import.meta.url, './scripts/end-check.lua', {
  keys: ['due', 'checks'],
  args: ['id', 'storedMs'],
  answer: 'flag',
});

/** One part of a delivered answer that the platform may still change, because the fate of a call is unknown. */
export interface AnswerCheck {
  platform: PlatformName;
  conversation: ConversationRef;
  deliveryId: DeliveryId;
  part: number;
  target: string;
  /** Handles that the part has abandoned. */
  left: readonly string[];
  /**
   * `restore`: removes duplicates, shows the final snapshot again, and clears the status line if a call may still have set
   * it; `remove-left`: removes the abandoned messages.
   */
  work:
    | { kind: 'restore'; handle: string; snapshot: Omit<ReplySnapshot, 'shown'>; clearsStatus?: boolean }
    | { kind: 'remove-left'; mark: string };
}

export interface DeferredReconciliationOptions {
  redis: RedisClient;
  keyRing: KeyRing;
  platforms: ReadonlyMap<PlatformName, Platform>;
  log: Log;
}

/**
 * Checks of delivered answers, due once the platform can no longer carry out calls that timed out. They are stored before
 * the turn is committed, so any worker can do them, whatever happens to the one that answered.
 */
export class DeferredReconciliation {
  readonly #options: DeferredReconciliationOptions;

  constructor(options: DeferredReconciliationOptions) {
    this.#options = options;
  }

  /** Stores a check for after the delay (milliseconds). A failure is logged: it must not hold up the answer itself. */
  async later(delayMs: number, check: AnswerCheck): Promise<void> {
    const { redis, keyRing, log } = this.#options;
    const id = `${check.work.kind}:${check.deliveryId}:${check.part}`;
    const sealed = keyRing.seal(PURPOSE, id, JSON.stringify({ version: VERSION, ...check }));
    await addScript.run(redis, RECONCILIATION_KEYS, { id, sealed, delayMs }).catch((error: unknown) => {
      log.warn({ error: asError(error), trace: check.deliveryId }, 'a check of an answer could not be stored');
    });
  }

  /** Does the due checks of all workers that no other worker is doing. */
  async runDue(): Promise<void> {
    const { redis, log } = this.#options;
    const taken = await takeScript.run(redis, RECONCILIATION_KEYS, { limit: MAX_AT_ONCE });
    const run = async ({ id, storedMs, sealed, ageMs }: (typeof taken)[number]) => {
      const isDone = await this.#carryOut(id, sealed).catch((error: unknown) => {
        log.debug({ error: asError(error) }, 'a check of an answer is repeated later');
        return false;
      });
      if (!isDone && ageMs > MAX_AGE_MS) log.warn({ trace: id.split(':')[1] }, 'an answer could not be reconciled');
      if (isDone || ageMs > MAX_AGE_MS) await endScript.run(redis, RECONCILIATION_KEYS, { id, storedMs });
    };
    await settledWithin(taken.map(run), CLAIMED_MS);
  }

  /** @returns whether nothing remains to be done */
  async #carryOut(id: string, sealed: string): Promise<boolean> {
    const { keyRing, platforms } = this.#options;
    const opened = tryOpenJson(() => keyRing.open(PURPOSE, id, sealed), readCheck);
    // Another worker may have the key or a newer version.
    if (opened.kind !== 'opened') return false;
    const platform = platforms.get(opened.value.platform);
    if (platform?.push === undefined) return false;
    return opened.value.work.kind === 'restore'
      ? this.#restore(opened.value, opened.value.work, { push: platform.push, traits: platform.replyTraits })
      : removeAbandoned(platform.push, opened.value, opened.value.work.mark);
  }

  async #restore(
    { conversation, deliveryId, part, target, left }: AnswerCheck,
    { handle, snapshot, clearsStatus = false }: Extract<AnswerCheck['work'], { kind: 'restore' }>,
    { push, traits }: { push: PushReplies; traits: ReplyTraits },
  ): Promise<boolean> {
    const { redis } = this.#options;
    const record = messageKey(conversation.partition, deliveryId);
    const isStanding = async () => {
      const [state, stands, replaced] = await redis.hmget(
        record,
        ...fieldsToRead('state', postFieldOf(part), 'replaced'),
      );
      return state === 'final' && stands === handle && replaced === null;
    };
    if (!(await isStanding())) return true;
    const postKey = postKeyOf(deliveryId, part);
    const ledger = createPostLedger({
      redis,
      conversation,
      epoch: 0,
      deliveryId,
      place: push.placeOf(target),
      doubtedAgeMs: 0,
    });
    const reconciler = new PostReconciler({ push, target, ledger, part, postKey, traits, left: new Set(left) });
    const found = reconciler.without(await push.find(target, postKey));
    const removed = found === 'unknown' ? 'doubtful' : await reconciler.removeOrphans(found, handle);
    if (!(await isStanding())) return true;
    const { result } = await push.update(handle, snapshot, postKey);
    // The line may be that of the next question by then, so it is cleared only if there is reason to.
    if (clearsStatus) await push.showStatus?.(target, '');
    return removed !== 'doubtful' && (result === 'sent' || result === 'refused' || result === 'stopped');
  }
}

/**
 * Removes the abandoned messages of a part, or writes `mark` over a message that the platform does not delete. Run once the
 * replacement is visible.
 * @returns whether nothing remains to be done
 */
export async function removeAbandoned(
  push: Pick<PushReplies, 'remove' | 'update'>,
  { deliveryId, part, left }: Pick<AnswerCheck, 'deliveryId' | 'part' | 'left'>,
  mark: string,
): Promise<boolean> {
  let isDone = true;
  for (const handle of left) {
    const fate = await push.remove(handle, false);
    const isMarked = fate === 'left' || fate === 'refused';
    const marked = isMarked
      ? await push.update(handle, { content: mark, finished: true }, postKeyOf(deliveryId, part))
      : undefined;
    const isRefused = marked?.result === 'refused' && fate === 'left' && marked.why !== 'transient';
    if (fate === 'later' || (marked && marked.result !== 'sent' && !isRefused)) isDone = false;
  }
  return isDone;
}
