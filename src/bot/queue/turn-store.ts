import { randomInt } from 'node:crypto';
import { Cluster } from 'ioredis';
import {
  auditKey,
  chatsKey,
  conversationKeys,
  followUpKeyPrefix,
  followUpsKey,
  messageKey,
  holdsKey,
  messageKeyPrefix,
  onHoldKey,
  preferencesKeyPrefix,
} from '../domain/partition-keys.ts';
import { DAY_MS, MINUTE_MS, monotonicMs, SECOND_MS, type NowMs } from '../../shared/clock.ts';
import { loadScript, type LuaScript } from '../../shared/redis/lua-script.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { REPLY_CHANNEL } from '../domain/reply.ts';
import { personIdOf, type ConversationRef } from '../domain/conversation.ts';
import { HELD_LIFE_MS } from '../domain/message.ts';
import { MAX_AUDIT_ENTRIES } from '../domain/audit-entry.ts';
import { REMEMBER_DELIVERY_MS } from './accept.ts';
import { CLAIM_SHAPE } from './claim-shape.ts';
import { newClaimName, newWorkerName } from './claim-name.ts';
import { CLEARED_MARK_MS } from './cleared-mark.ts';
import { letterOf } from './dead-letters.ts';
import { followedNote } from './thread-subscriptions.ts';
import { BUDGET_SUMS } from '../domain/budget-sums.ts';
import { SETTLE_BUDGET, settleBudgets } from './settle-budgets.ts';
import { heldFor, releaseHeld, type HeldCounts, type ReleaseResult } from './held-messages.ts';
import { messageFields, withFields } from '../domain/message-record.ts';
import { TurnTrace } from '../domain/turn-trace.ts';
import { type StopMark, type TurnClaim, type TurnCommit } from '../domain/turn.ts';
import { asDeliveryId, asPersonId, type ConversationId, type PersonId } from '../domain/ids.ts';
import { hasFollowUp } from './turn-commit.ts';
import { EntryError, INBOX_ENTRY, LACKED_KEY, MissingKeyError, openTarget } from './inbox-entry.ts';
import { openAnswer, readableOf, readEntries, sealAnswer } from './open-turn.ts';

/** Life of a conversation's epoch and state after its last turn. Much longer than a worker can hold an older epoch. */
const STATE_LIFE_MS = 7 * DAY_MS;
/** How long the order of messages is kept while no worker with the key was found: during a key change some worker has it. */
const MAX_KEY_WAIT_MS = 5 * MINUTE_MS;
const awaitKeyScript = loadScript(import.meta.url, './scripts/wait-for-key.lua', {
  libraries: [INBOX_ENTRY, LACKED_KEY],
  constants: { PATIENCE_MS: MAX_KEY_WAIT_MS },
  keys: ['state', 'inbox', 'pending'],
  args: ['conversationId', 'epochStep', '...keyIds'],
  answer: 'flag',
});
/** A claim that was not renewed for this long may be taken by another worker. */
export const CLAIM_LIFE_MS = 9 * SECOND_MS;
const markScript = loadScript(import.meta.url, './scripts/mark-turn.lua', {
  keys: ['state', 'pending'],
  args: ['epoch', 'mark', 'storedAnswer?', 'touchedAgoMs?', 'conversationId?'],
  answer: 'flag',
});
const notCrashedScript = loadScript(import.meta.url, './scripts/not-crashed.lua', {
  keys: ['state'],
  args: ['claim'],
  answer: 'flag',
});
const renewScript = loadScript(import.meta.url, './scripts/renew.lua', {
  keys: ['state', 'pending', '...records'],
  args: ['epoch', 'conversationId', 'did?'],
  answer: { isCurrent: 'flag', stopSeq: 'number', stopOwner: 'text', wasStopped: 'flag', wasAmended: 'flag' },
});
const MAX_MESSAGES_PER_TURN = 10;
const TURNS_OF_HISTORY_READ = 50;
const MAX_HISTORY_TURNS_STORED = 200;
/** Maximum threads per person and chat, for /forget. */
const THREADS_REMEMBERED = 500;
/** Maximum conversations per person and partition, for /export and erasure. */
const CHATS_REMEMBERED = 1_000;
/** Maximum unanswered questions per person and partition. */
const MAX_UNANSWERED = 200;
const commitScript = loadScript(import.meta.url, './scripts/commit.lua', {
  libraries: [INBOX_ENTRY, BUDGET_SUMS, SETTLE_BUDGET],
  constants: {
    ...{ REPLY_CHANNEL, CLEARED_MARK_MS, HELD_LIFE_MS, RECORD_LIFE_MS: REMEMBER_DELIVERY_MS },
    ...{ MAX_TURNS: MAX_HISTORY_TURNS_STORED, MAX_THREADS: THREADS_REMEMBERED },
    ...{ MAX_CHATS: CHATS_REMEMBERED, MAX_AUDIT: MAX_AUDIT_ENTRIES, MAX_UNANSWERED },
  },
  keys: [
    ...(['state', 'inbox', 'pending', 'held', 'history', 'notices', 'summary'] as const),
    ...(['threadHistory', 'audit', 'holds', 'onHold'] as const),
  ],
  args: ['conversationId', 'epoch', 'messagePrefix', 'changes', 'append?', 'threadAppend?'],
  answer: { verdict: ['done', 'stale', 'amended'], waiting: 'number' },
});
/** Encrypted history bytes per prompt token: four characters, a third longer when encrypted, and the fields around them. */
const BYTES_PER_TOKEN = 8;
const DEFAULT_PROMPT_TOKENS = 24_000;
/** Maximum held messages per person and conversation. */
export const MAX_HELD_MESSAGES = 20;
/** Maximum bytes of the claims in a message record; more than 20 claims. */
const MAX_CLAIMS_BYTES = 4_096;
/** Maximum held messages of a group. Above it their owners are not counted, and further messages are not held. */
const MAX_HELD_COUNTED = 200;
/** Life of a person's preferences after their last message in the chat. */
const PREFERENCES_LIFE_MS = 90 * DAY_MS;
/** Maximum step of an epoch. A Redis integer has room for billions of such steps. */
const MAX_EPOCH_STEP = 1_000_000;

/** Result of a renewal: the newest stop, and whether one of the turn's messages was stopped individually. */
export interface RenewResult {
  stop: StopMark;
  wasStopped: boolean;
  /** The turn's question has changed, so that the turn must restart. */
  wasAmended: boolean;
}

/** States of a running turn that can be recorded (scripts/mark-turn.lua). */
type Mark =
  | { mark: 'waiting' | 'running' }
  | { mark: 'answered'; storedAnswer: string }
  | { mark: 'given-back' | 'isolated'; touchedAgoMs: number; conversationId: ConversationId };

/** The fields of a claim that the fence needs. */
type Place = Pick<TurnClaim, 'conversation' | 'epoch'>;

export interface TurnStoreOptions {
  redis: RedisClient;
  keyRing: KeyRing;
  nowMs: NowMs;
  historyLifeMs: number;
  /** A claim that was not renewed for this long may be taken. Defaults to `CLAIM_LIFE_MS`. */
  claimLifeMs?: number;
  /** Maximum tokens of a prompt, which limit the history that is read for it. Defaults to 24,000. */
  promptTokens?: number;
  /** Prefix of the store's claims, for callers that must recognise them. Random by default. Letters, digits, `-`, `_` and `+`. */
  workerName?: string;
}

/** A conversation's turn in Redis: claim, mark, commit, release. Every write but the claim is fenced by the epoch. */
export class TurnStore {
  readonly #options: TurnStoreOptions;
  /** Prefix of this store's claims, which all belong to one worker. */
  readonly workerName: string;

  readonly #claimScript: LuaScript<typeof CLAIM_SHAPE>;

  constructor(options: TurnStoreOptions) {
    this.#options = options;
    const { claimLifeMs = CLAIM_LIFE_MS, workerName = newWorkerName() } = options;
    this.workerName = workerName;
    this.#claimScript = loadScript(import.meta.url, './scripts/claim.lua', {
      ...CLAIM_SHAPE,
      constants: { STATE_LIFE_MS, CLAIM_LIFE_MS: claimLifeMs, MAX_HELD_COUNTED, MAX_CLAIMS_BYTES },
    });
  }

  /**
   * Takes the next epoch and the turn to run. Undefined if nothing waits or another worker's claim is active; that worker or
   * its successor wakes the conversation again.
   * @throws EntryError for a version that only a newer worker can read; the turn is given back first without a crash
   * (SECURITY.md versioned-payloads)
   * @param wokenMs when the wake was sent
   * @throws MissingKeyError for a turn encrypted with another key; it was not claimed, and the sweeper wakes it again
   */
  async begin(conversation: ConversationRef, wokenMs?: number): Promise<TurnClaim | undefined> {
    const { redis, keyRing } = this.#options;
    const claimId = newClaimName(this.workerName);
    const begun = await this.#claimScript.run(redis, conversationKeys(conversation), {
      conversationId: conversation.id,
      maxMessages: MAX_MESSAGES_PER_TURN,
      maxTurns: TURNS_OF_HISTORY_READ,
      messagePrefix: messageKeyPrefix(conversation.partition),
      claim: claimId,
      maxHistoryBytes: (this.#options.promptTokens ?? DEFAULT_PROMPT_TOKENS) * BYTES_PER_TOKEN,
      epochStep: epochStep(),
      preferencesPrefix: preferencesKeyPrefix(conversation.partition),
      preferencesLifeMs: PREFERENCES_LIFE_MS,
      wokenMs,
      keyIds: keyRing.keyIds,
    });
    if (begun.verdict === 'nothing' || begun.verdict === 'claimed') return undefined;
    if (begun.verdict === 'lacks-key') return this.#awaitKey(conversation, begun.lackedKeyId);
    const { epoch, crashes, crashedWorker, heldCount, history, notices, wasBegun, wasHandedOver } = begun;
    const { wasStopped, summary, historyLength, dueForMs, leftovers, mayBeAnswered, wasHeldInGroup } = begun;
    const { redisNowMs, excusedUntilMs, stopSeq: seq, stopServed: servedSeq } = begun;
    const turnId = asDeliveryId(begun.turnId);
    const ownerId = asPersonId(begun.stopOwner);
    // Converts times of the Redis clock to the local clock, so that ages are right although the two differ (RELIABILITY.md
    // wrong-clocks).
    const aheadMs = this.#options.nowMs() - redisNowMs;
    const claimedAtMs = monotonicMs();
    const { messages, unreadable } = await this.#readEntries({ conversation, epoch }, begun.entries);
    const apologyTarget = messages.length === 0 ? openTarget(keyRing, turnId, begun.target) : undefined;
    const storedAnswer = openAnswer(keyRing, turnId, begun.storedAnswer);
    return {
      conversation,
      epoch,
      claimId,
      turnId,
      messages: messages.map((one) => ({ ...one, acceptedAtMs: one.acceptedAtMs + aheadMs })),
      unreadable,
      apologyTarget,
      crashes,
      crashedWorker: crashedWorker === '' ? undefined : crashedWorker,
      storedAnswer,
      isAnswerLost: begun.storedAnswer !== '' && storedAnswer === undefined,
      stop: { seq, ownerId, servedSeq },
      heldCount,
      startedAtMs: begun.startedAtMs + aheadMs,
      wasHandedOver,
      history,
      notices,
      wasBegun,
      preferences: pairs(begun.preferences),
      wasStopped,
      summary,
      historyLength,
      dueForMs,
      newestAgeMs: redisNowMs - (messages.at(-1)?.acceptedAtMs ?? redisNowMs),
      chargedAgeMs: redisNowMs - Math.max(messages.at(-1)?.acceptedAtMs ?? redisNowMs, excusedUntilMs),
      trace: new TurnTrace(epoch),
      claimedAtMs,
      leftovers,
      mayBeAnswered,
      behind: readableOf(keyRing, begun.behind),
      wasHeldInGroup,
    };
  }

  /**
   * Ends the turn. @returns how many messages still wait; `stale` if a newer epoch has taken over, `amended` if the question
   * has changed; in both cases the turn was not ended
   */
  async commit(claim: TurnClaim, commit: TurnCommit): Promise<number | 'stale' | 'amended'> {
    const { redis, historyLifeMs } = this.#options;
    const { history, threadHistory, preferences, followed, budgets = [] } = commit;
    // A budget spans conversations, so on a cluster no commit can include it.
    const isSpread = budgets.length > 0 && redis instanceof Cluster;
    if (isSpread) await settleBudgets(redis, claim.turnId, budgets);
    const changes = {
      ...commit,
      records: withTrace(commit.records, claim),
      budgets: isSpread || budgets.length === 0 ? undefined : budgets,
      // The turns are arguments of their own, because they are long.
      history: history && { ...history, append: undefined },
      threadHistory: undefined,
      followed: followed && followedNote(followed),
      kept: { lifeMs: historyLifeMs, summary: hasSummary(claim) },
      answeredBy: claim.turnId,
      ...chatsOf(claim, commit),
      preferences: preferences && placed(preferences, claim.conversation),
      followUps: hasFollowUp(commit) ? followUpsOf(claim.conversation) : undefined,
      letter: letterOf(claim, commit),
    };
    const keys = {
      ...conversationKeys(claim.conversation),
      audit: auditKey(claim.conversation.partition),
      holds: holdsKey(claim.conversation.partition),
      onHold: onHoldKey(claim.conversation),
      // Without a thread it is not used.
      threadHistory: conversationKeys(threadHistory?.conversation ?? claim.conversation).history,
    };
    const { verdict, waiting } = await commitScript.run(redis, keys, {
      conversationId: claim.conversation.id,
      epoch: claim.epoch,
      messagePrefix: messageKeyPrefix(claim.conversation.partition),
      append: history?.append,
      threadAppend: threadHistory?.append,
      changes: JSON.stringify(changes),
    });
    return verdict === 'done' ? waiting : verdict;
  }

  /**
   * Stores the full answer before the last edit of its post (SECURITY.md noted-before-posted). @returns false when fenced
   */
  async storeAnswer(claim: TurnClaim, answer: string): Promise<boolean> {
    return this.#mark(claim, { mark: 'answered', storedAnswer: this.sealAnswer(claim, answer) });
  }

  /** Encrypts the full answer as `storeAnswer` does, for a script that stores it together with other data. */
  sealAnswer(claim: TurnClaim, answer: string): string {
    return sealAnswer(this.#options.keyRing, claim.turnId, answer);
  }

  /** Records that this turn only waits, so that a crash is not charged to it. @returns false when fenced */
  async markWaiting(claim: TurnClaim): Promise<boolean> {
    return this.#mark(claim, { mark: 'waiting' });
  }

  /** Records that the turn runs again. @returns false when fenced */
  async markRunning(claim: TurnClaim): Promise<boolean> {
    return this.#mark(claim, { mark: 'running' });
  }

  /**
   * Renews the claim (SECURITY.md fence): before each outside post, and every few seconds of a running turn.
   * @returns undefined if the claim has ended: a newer epoch has taken over, or the turn was committed or given back
   */
  async renew(claim: TurnClaim): Promise<RenewResult | undefined> {
    const keys = conversationKeys(claim.conversation);
    const records = claim.messages.map(({ deliveryId }) => messageKey(claim.conversation.partition, deliveryId));
    const { isCurrent, stopSeq, stopOwner, wasStopped, wasAmended } = await renewScript.run(
      this.#options.redis,
      { ...keys, records },
      { epoch: claim.epoch, conversationId: claim.conversation.id, did: claim.trace.unstored() },
    );
    return isCurrent ? { stop: { seq: stopSeq, ownerId: asPersonId(stopOwner) }, wasStopped, wasAmended } : undefined;
  }

  /**
   * Gives the turn back without a crash (for example at an orderly stop). The claim ends, and later writes under it are
   * refused.
   * @param touchedAgoMs age of the new touch; the sweeper wakes conversations that were not touched for a while
   */
  async giveBack(claim: Place, touchedAgoMs: number): Promise<boolean> {
    return this.#mark(claim, { mark: 'given-back', touchedAgoMs, conversationId: claim.conversation.id });
  }

  /**
   * Gives a suspect back for a process of the quarantine (SECURITY.md poison-turns). The wait does not count as the age of the
   * questions behind it.
   */
  async isolate(claim: Place): Promise<boolean> {
    return this.#mark(claim, { mark: 'isolated', touchedAgoMs: 0, conversationId: claim.conversation.id });
  }

  /**
   * Retracts the crash that was counted when another worker took this turn over. This worker is alive: Redis, the network or
   * the whole process had stalled. Only real crashes distinguish a poison turn from an innocent one.
   */
  async retractCrash({ conversation, claimId }: Pick<TurnClaim, 'conversation' | 'claimId'>): Promise<boolean> {
    return notCrashedScript.run(this.#options.redis, conversationKeys(conversation), { claim: claimId });
  }

  /**
   * Releases one person's held messages after sign-in, behind an open turn. Safe to repeat.
   * @param personId undefined releases everyone's messages
   */
  release(conversation: ConversationRef, personId?: PersonId): Promise<ReleaseResult> {
    return releaseHeld(this.#options.redis, { conversation, personId });
  }

  /**
   * Counts the messages of a conversation that wait for one person's sign-in. @param oldestMs maximum age at which a
   * question in a group is still answered
   */
  heldFor(conversation: ConversationRef, personId: PersonId, oldestMs: number): Promise<HeldCounts> {
    return heldFor(this.#options.redis, { conversation, personId, oldestMs });
  }

  /**
   * Releases the held messages of the turn's sender in front of this turn, which gives up its place because it was sent
   * later. Fenced.
   * @returns whether the turn has given up its place or had lost it before; otherwise nothing changed
   */
  async releaseBefore({ conversation, epoch, messages }: Place & Pick<TurnClaim, 'messages'>): Promise<boolean> {
    const message = messages.at(-1)?.message;
    const personId = message && personIdOf(message, message.sender.userId);
    return (await releaseHeld(this.#options.redis, { conversation, epoch, personId })).count !== 0;
  }

  /** @returns a claim on readable messages once those without a key have waited long enough */
  async #awaitKey(conversation: ConversationRef, keyId: string): Promise<TurnClaim | undefined> {
    const { redis, keyRing } = this.#options;
    const args = { conversationId: conversation.id, keyIds: keyRing.keyIds, epochStep: epochStep() };
    if (await awaitKeyScript.run(redis, conversationKeys(conversation), args)) return this.begin(conversation);
    throw new MissingKeyError(keyId);
  }

  /** Gives back a turn with entries that only a newer worker can read: it has not crashed and is due again. */
  async #readEntries(place: Place, entries: string[]): Promise<Pick<TurnClaim, 'messages' | 'unreadable'>> {
    try {
      return readEntries(this.#options.keyRing, entries);
    } catch (error) {
      if (error instanceof EntryError) await this.giveBack(place, 0);
      throw error;
    }
  }

  #mark(claim: Place, mark: Mark): Promise<boolean> {
    const args = { epoch: claim.epoch, ...mark };
    return markScript.run(this.#options.redis, conversationKeys(claim.conversation), args);
  }
}

/** The record of the answer also gets the steps of the turn. */
function withTrace(records: TurnCommit['records'], { turnId, trace }: TurnClaim): TurnCommit['records'] {
  const did = messageFields({ did: trace.text() });
  if (!records.some(({ id }) => id === turnId)) return [...records, { id: turnId, fields: did }];
  return records.map((one) => (one.id === turnId ? { ...one, fields: withFields(one.fields, did) } : one));
}

function epochStep(): number {
  return randomInt(1, MAX_EPOCH_STEP);
}

/** Redis returns a hash as a flat list: field, value, field, value. */
function pairs(flat: string[]): Record<string, string> {
  return Object.fromEntries(flat.flatMap((field, at) => (at % 2 === 0 ? [[field, flat[at + 1] ?? '']] : [])));
}

function followUpsOf({ partition }: ConversationRef): { due: string; prefix: string; lifeMs: number } {
  return { due: followUpsKey(partition), prefix: followUpKeyPrefix(partition), lifeMs: REMEMBER_DELIVERY_MS };
}

/** The sender, and the conversations to find their turns in. Other parts of a turn cannot be traced to a person. */
function chatsOf(
  { conversation, messages }: TurnClaim,
  { history, thread, threadHistory }: TurnCommit,
): { person?: PersonId; chats?: { key: string; ids: string[] } } {
  const message = messages.at(-1)?.message;
  if (!message) return {};
  const person = personIdOf(message, message.sender.userId);
  if (history?.append === undefined) return { person };
  const index = thread?.index.split(':').at(-1);
  const ids = [conversation.id, threadHistory?.conversation.id, index].filter((id) => id !== undefined);
  return { person, chats: { key: chatsKey(conversation.partition, person), ids: [...new Set(ids)] } };
}

/** Whether the summary is more than the mark of a cleared one. */
function hasSummary({ summary }: TurnClaim): boolean {
  return summary !== '' && !summary.startsWith('-');
}

function placed(
  { personId, field, sealed }: NonNullable<TurnCommit['preferences']>,
  { partition }: ConversationRef,
): { key: string; field: string; sealed: string; lifeMs: number } {
  return { key: preferencesKeyPrefix(partition) + personId, field, sealed, lifeMs: PREFERENCES_LIFE_MS };
}
