import { randomInt } from 'node:crypto';
import {
  conversationKeys,
  followUpKeyPrefix,
  followUpsKey,
  messageKey,
  messageKeyPrefix,
  preferencesKeyPrefix,
} from '../domain/partition-keys.ts';
import { DAY_MS, MINUTE_MS, monotonicMs, SECOND_MS, type NowMs } from '../../shared/clock.ts';
import { loadScript, type LuaScript } from '../../shared/redis/lua-script.ts';
import { randomToken } from '../../shared/crypto/ids.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { REPLY_CHANNEL } from '../domain/reply.ts';
import { personIdOf, type ConversationRef } from '../domain/conversation.ts';
import { HELD_LIFE_MS } from '../domain/message.ts';
import { REMEMBER_DELIVERY_MS } from './accept.ts';
import { BEGIN_SHAPE } from './claim-shape.ts';
import { CLEARED_MARK_MS } from './cleared-mark.ts';
import { followedNote } from './thread-subscriptions.ts';
import { heldFor, releaseHeld, type Held, type Released } from './held-messages.ts';
import { type StopMark, type TurnClaim, type TurnCommit } from '../domain/turn.ts';
import { asDeliveryId, asPersonId, type ConversationId, type PersonId } from '../domain/ids.ts';
import { hasFollowUp } from './turn-commit.ts';
import { EntryError, MissingKeyError, openTarget } from './inbox-entry.ts';
import { openAnswer, readableOf, readEntries, sealAnswer } from './open-turn.ts';

/** A conversation's epoch and its like live so long after its last turn; far beyond any worker that could still hold an older epoch. */
const STATE_LIFE_MS = 7 * DAY_MS;
/** In a change of keys some worker has the key; so long the order stays although none was found that has it. */
const KEY_PATIENCE_MS = 5 * MINUTE_MS;
const awaitKeyScript = loadScript(import.meta.url, './scripts/wait-for-key.lua', {
  constants: { PATIENCE_MS: KEY_PATIENCE_MS },
  keys: ['state', 'inbox', 'pending'],
  args: ['conversationId', 'keyIds', 'epochStep'],
  answer: 'flag',
});
/** A claim that its worker did not renew for so long may be taken by another. */
export const CLAIM_LIFE_MS = 9 * SECOND_MS;
const commitScript = loadScript(import.meta.url, './scripts/commit.lua', {
  constants: { REPLY_CHANNEL, CLEARED_MARK_MS, RECORD_LIFE_MS: REMEMBER_DELIVERY_MS },
  keys: ['state', 'inbox', 'pending', 'held', 'history', 'notices', 'summary', 'threadHistory?'],
  args: ['conversationId', 'epoch', 'messagePrefix', 'changes'],
  answer: { verdict: ['done', 'stale', 'amended'], waiting: 'number' },
});
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
  args: ['epoch', 'conversationId'],
  answer: { isCurrent: 'flag', stopSeq: 'number', stopOwner: 'text', wasStopped: 'flag', wasAmended: 'flag' },
});
const MOST_MESSAGES_OF_ONE_TURN = 10;
const TURNS_OF_HISTORY_READ = 50;
const TURNS_OF_HISTORY_KEPT = 200;
/** Of one person in one chat, for /forget. */
const THREADS_REMEMBERED = 500;
/** Sealed bytes of history that a prompt may need for each of its tokens: four characters, sealed a third longer, and what stands around them. */
const BYTES_A_TOKEN = 8;
const DEFAULT_PROMPT_TOKENS = 24_000;
/** Of one person in one conversation. */
export const MOST_HELD_MESSAGES = 20;
/** Of all people of a group. Of more it is not asked whose they are, and further ones are not held. */
const MOST_HELD_COUNTED = 200;
/** What a person chose lives so long after their last message in the chat. */
const PREFERENCES_LIFE_MS = 90 * DAY_MS;
const CLAIM_BYTES = 12;
/** A number of Redis takes thousands of millions of such steps. */
const LONGEST_EPOCH_STEP = 1_000_000;

/** What a renewal finds: the newest stop word, and whether one of the turn's messages was stopped by itself. */
export interface Renewed {
  stop: StopMark;
  wasStopped: boolean;
  /** What the turn asks has changed: it is to begin anew. */
  wasAmended: boolean;
}

/** What may be noted about a running turn (scripts/mark-turn.lua). */
type Mark =
  | { mark: 'waiting' | 'running' }
  | { mark: 'answered'; storedAnswer: string }
  | { mark: 'given-back'; touchedAgoMs: number; conversationId: ConversationId };

/** What the fence needs to know of a claim. */
type Place = Pick<TurnClaim, 'conversation' | 'epoch'>;

export interface TurnStoreOptions {
  redis: RedisClient;
  keyRing: KeyRing;
  nowMs: NowMs;
  historyLifeMs: number;
  /** A claim that its worker did not renew for so long may be taken; `CLAIM_LIFE_MS` unless told. */
  claimLifeMs?: number;
  /** Tokens that a prompt may take, which bound the history that is read for it; 24,000 unless told. */
  promptTokens?: number;
  /** What its claims begin with, for whoever must know them by it; made up unless told. Letters, digits, `-` and `_`. */
  workerName?: string;
}

/** The conversation's side of a turn in Redis: claim, mark, commit, release. Every write but the claim is fenced by the epoch. */
export class TurnStore {
  readonly #options: TurnStoreOptions;
  /** What the claims of this store begin with: they are one worker's. */
  readonly workerName: string;

  readonly #beginScript: LuaScript<typeof BEGIN_SHAPE>;

  constructor(options: TurnStoreOptions) {
    this.#options = options;
    const { claimLifeMs = CLAIM_LIFE_MS, workerName = randomToken(CLAIM_BYTES) } = options;
    this.workerName = workerName;
    this.#beginScript = loadScript(import.meta.url, './scripts/claim.lua', {
      ...BEGIN_SHAPE,
      constants: { STATE_LIFE_MS, CLAIM_LIFE_MS: claimLifeMs, MOST_HELD_COUNTED },
    });
  }

  /**
   * Takes the next epoch and the turn to run; undefined when nothing waits, or when another worker's claim is alive. That
   * worker, or who takes over from it, wakes the conversation again.
   * @throws EntryError for a version that waits for a newer worker; the turn is given back before, unharmed (SECURITY.md versioned-payloads)
   * @throws MissingKeyError for what another key sealed; it was not claimed, and the sweeper wakes it again
   */
  async begin(conversation: ConversationRef): Promise<TurnClaim | undefined> {
    const { redis, keyRing } = this.#options;
    const claimId = `${this.workerName}.${randomToken(CLAIM_BYTES)}`;
    const begun = await this.#beginScript.run(redis, conversationKeys(conversation), {
      conversationId: conversation.id,
      mostMessages: MOST_MESSAGES_OF_ONE_TURN,
      mostTurns: TURNS_OF_HISTORY_READ,
      messagePrefix: messageKeyPrefix(conversation.partition),
      claim: claimId,
      mostHistoryBytes: (this.#options.promptTokens ?? DEFAULT_PROMPT_TOKENS) * BYTES_A_TOKEN,
      epochStep: epochStep(),
      preferencesPrefix: preferencesKeyPrefix(conversation.partition),
      preferencesLifeMs: PREFERENCES_LIFE_MS,
      keyIds: keyRing.keyIds.join(' '),
    });
    if (begun.verdict === 'nothing' || begun.verdict === 'claimed') return undefined;
    if (begun.verdict === 'lacks-key') return this.#awaitKey(conversation, begun.lackedKeyId);
    const { epoch, crashes, crashedWorker, heldCount, history, notices, wasBegun, wasHandedOver } = begun;
    const { wasStopped, summary, historyLength, dueForMs, leftovers, mayBeAnswered, wasHeldInGroup } = begun;
    const { redisNowMs, stopSeq: seq, stopServed: servedSeq } = begun;
    const turnId = asDeliveryId(begun.turnId);
    const ownerId = asPersonId(begun.stopOwner);
    // Times of Redis' clock become times of ours, so that an age is right although the two differ (RELIABILITY.md wrong-clocks).
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
      claimedAtMs,
      leftovers,
      mayBeAnswered,
      behind: readableOf(keyRing, begun.behind),
      wasHeldInGroup,
    };
  }

  /**
   * Ends the turn. @returns how many messages still wait; `stale` when a newer epoch has taken over, `amended` when what was asked has
   * changed meanwhile: nothing was written then
   */
  async commit(claim: TurnClaim, commit: TurnCommit): Promise<number | 'stale' | 'amended'> {
    const { redis, historyLifeMs } = this.#options;
    const { threadHistory, preferences, followed, ...rest } = commit;
    const changes = {
      ...rest,
      threadHistory: threadHistory?.append,
      followed: followed && followedNote(followed),
      kept: { most: TURNS_OF_HISTORY_KEPT, lifeMs: historyLifeMs, summary: hasSummary(claim) },
      mostThreads: THREADS_REMEMBERED,
      heldLifeMs: HELD_LIFE_MS,
      noticesShown: commit.noticesShown ?? [],
      stopServed: commit.stopServed ?? 0,
      answeredBy: claim.turnId,
      preferences: preferences && placed(preferences, claim.conversation),
      followUps: hasFollowUp(commit) ? followUpsOf(claim.conversation) : undefined,
    };
    const keys = {
      ...conversationKeys(claim.conversation),
      threadHistory: threadHistory && conversationKeys(threadHistory.conversation).history,
    };
    const { verdict, waiting } = await commitScript.run(redis, keys, {
      conversationId: claim.conversation.id,
      epoch: claim.epoch,
      messagePrefix: messageKeyPrefix(claim.conversation.partition),
      changes: JSON.stringify(changes),
    });
    return verdict === 'done' ? waiting : verdict;
  }

  /** Stores the full answer before it goes out the last way (SECURITY.md noted-before-posted). @returns false when fenced */
  async storeAnswer(claim: TurnClaim, answer: string): Promise<boolean> {
    return this.#mark(claim, { mark: 'answered', storedAnswer: this.sealAnswer(claim, answer) });
  }

  /** Seals the full answer as `storeAnswer` does, for a script that stores it together with something else. */
  sealAnswer(claim: TurnClaim, answer: string): string {
    return sealAnswer(this.#options.keyRing, claim.turnId, answer);
  }

  /** Notes that this turn only waits, so that a crash now does not count for it. @returns false when fenced */
  async markWaiting(claim: TurnClaim): Promise<boolean> {
    return this.#mark(claim, { mark: 'waiting' });
  }

  /** Notes that it runs again. @returns false when fenced */
  async markRunning(claim: TurnClaim): Promise<boolean> {
    return this.#mark(claim, { mark: 'running' });
  }

  /**
   * Renews the claim (SECURITY.md fence): before an outside post, and every few seconds of a running turn.
   * @returns undefined when the claim is no more: a newer epoch has taken over, or the turn was committed or given back
   */
  async renew(claim: TurnClaim): Promise<Renewed | undefined> {
    const keys = conversationKeys(claim.conversation);
    const records = claim.messages.map(({ deliveryId }) => messageKey(claim.conversation.partition, deliveryId));
    const { isCurrent, stopSeq, stopOwner, wasStopped, wasAmended } = await renewScript.run(
      this.#options.redis,
      { ...keys, records },
      { epoch: claim.epoch, conversationId: claim.conversation.id },
    );
    return isCurrent ? { stop: { seq: stopSeq, ownerId: asPersonId(stopOwner) }, wasStopped, wasAmended } : undefined;
  }

  /**
   * Gives the turn back unharmed (orderly stop, a suspect's wait). The claim ends by it: its later writes are refused.
   * @param touchedAgoMs so long ago it counts as touched; the sweeper takes up what nobody touched for a while
   */
  async giveBack(claim: Place, touchedAgoMs: number): Promise<boolean> {
    return this.#mark(claim, { mark: 'given-back', touchedAgoMs, conversationId: claim.conversation.id });
  }

  /**
   * Takes back the crash that was counted when another worker took this turn over, since this worker is alive: what
   * stalled was Redis, the way to it, or the whole process. Only crashes tell a turn that kills from an innocent one.
   */
  async notCrashed({ conversation, claimId }: Pick<TurnClaim, 'conversation' | 'claimId'>): Promise<boolean> {
    return notCrashedScript.run(this.#options.redis, conversationKeys(conversation), { claim: claimId });
  }

  /**
   * Brings one person's held messages back after their sign-in, behind a turn that is open. Safe to repeat.
   * @param personId everybody's come back where it is not known whose they are
   */
  release(conversation: ConversationRef, personId?: PersonId): Promise<Released> {
    return releaseHeld(this.#options.redis, { conversation, personId });
  }

  /** What waits in a conversation for one person's sign-in. @param oldestMs so old a question in a group is still answered */
  heldFor(conversation: ConversationRef, personId: PersonId, oldestMs: number): Promise<Held> {
    return heldFor(this.#options.redis, { conversation, personId, oldestMs });
  }

  /**
   * Brings back what is held of the turn's sender, in front of this turn, which gives its place up: it was said later. Fenced.
   * @returns whether the turn has given its place up, or has lost it before; else nothing changed
   */
  async releaseBefore({ conversation, epoch, messages }: Place & Pick<TurnClaim, 'messages'>): Promise<boolean> {
    const message = messages.at(-1)?.message;
    const personId = message && personIdOf(message, message.sender.userId);
    return (await releaseHeld(this.#options.redis, { conversation, epoch, personId })).count !== 0;
  }

  /** @returns what can be read, when what waits for the key has waited long enough */
  async #awaitKey(conversation: ConversationRef, keyId: string): Promise<TurnClaim | undefined> {
    const { redis, keyRing } = this.#options;
    const args = { conversationId: conversation.id, keyIds: keyRing.keyIds.join(' '), epochStep: epochStep() };
    if (await awaitKeyScript.run(redis, conversationKeys(conversation), args)) return this.begin(conversation);
    throw new MissingKeyError(keyId);
  }

  /** Whose entries are of a version that only a newer worker reads is given back: it has not crashed, and is due again. */
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

function epochStep(): number {
  return randomInt(1, LONGEST_EPOCH_STEP);
}

/** Redis answers a hash as a flat list: field, value, field, value. */
function pairs(flat: string[]): Record<string, string> {
  return Object.fromEntries(flat.flatMap((field, at) => (at % 2 === 0 ? [[field, flat[at + 1] ?? '']] : [])));
}

function followUpsOf({ partition }: ConversationRef): { due: string; prefix: string; lifeMs: number } {
  return { due: followUpsKey(partition), prefix: followUpKeyPrefix(partition), lifeMs: REMEMBER_DELIVERY_MS };
}

/** Whether it is more than the mark of one that was cleared. */
function hasSummary({ summary }: TurnClaim): boolean {
  return summary !== '' && !summary.startsWith('-');
}

function placed(
  { personId, field, sealed }: NonNullable<TurnCommit['preferences']>,
  { partition }: ConversationRef,
): { key: string; field: string; sealed: string; lifeMs: number } {
  return { key: preferencesKeyPrefix(partition) + personId, field, sealed, lifeMs: PREFERENCES_LIFE_MS };
}
