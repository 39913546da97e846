import {
  conversationKeys,
  holdsKey,
  mediaKey,
  preferencesKeyPrefix,
  unansweredKey,
} from '../../domain/partition-keys.ts';
import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import type { RedisClient } from '../../../shared/redis/redis.ts';
import { ownerOfPreferences } from '../conversation/preferences.ts';
import { storedMediaOf } from '../conversation/history.ts';
import { readHistory } from '../conversation/read-history.ts';
import { conversationOf, personIdOf, type ConversationRef, type GroupScope } from '../../domain/conversation.ts';
import { keysOfRatings } from '../../reply/feedback/keep-feedback.ts';
import { RECORD_TEXTS } from '../../i18n/record-texts.ts';
import type { TurnContext } from '../turn-context.ts';
import { translate } from '../translate.ts';
import { speakerTagOf } from '../prompt/turn-history.ts';
import type { TurnCommit } from '../../domain/turn.ts';
import { asConversationId } from '../../domain/ids.ts';
import type { Outcome } from '../outcome.ts';
import { keysOfDeadLetters } from './dead-letter-keys.ts';
import { threadIndexOf } from './thread-index.ts';

export interface RecordOptions {
  redis: RedisClient;
  keyRing: KeyRing;
  groupScope: GroupScope;
}

/**
 * /forget: deletes this person's messages in this chat including its threads, the answers and images, the questions that
 * were given up, and the person's preferences and ratings here. Usage counters remain. In a shared conversation, the turns
 * of other people remain. Everything is deleted in the commit of the turn. Refused while a legal hold applies
 * (SECURITY.md legal-hold).
 */
export async function forget(options: RecordOptions, context: TurnContext): Promise<Outcome> {
  const { newest, turn } = context;
  const { partition } = turn.conversation;
  const asker = personIdOf(newest, newest.sender.userId);
  if ((await options.redis.sismember(holdsKey(partition), asker)) === 1)
    return { kind: 'command', text: translate(context, RECORD_TEXTS.onHold) };
  const { threadId: _left, ...chat } = newest.chat;
  const base = conversationOf({ ...newest, chat }, options.groupScope);
  const index = threadIndexOf(newest);
  const threads = await options.redis.zrange(index, '0', '-1');
  const ids = new Set([base.id, turn.conversation.id, ...threads.map(asConversationId)]);
  const { personId, field } = ownerOfPreferences(newest);
  const isOwnChat = newest.chat.kind === 'private';
  const own = isOwnChat ? undefined : speakerTagOf(context.newest);
  const ratings = await keysOfRatings(options, partition, personId);
  const letters = await keysOfDeadLetters(options.redis, partition, { personId, conversations: ids });
  const found = await Promise.all([...ids].map((id) => forgetIn(options, { id, partition }, own)));
  return {
    kind: 'command',
    text: translate(context, RECORD_TEXTS.forgotten),
    erase: {
      remove: found.flatMap(({ remove }) => remove),
      drop: [index, unansweredKey(partition, asker), ratings.list, ...letters, ...found.flatMap(({ drop }) => drop)],
      fields: [{ key: preferencesKeyPrefix(partition) + personId, field }, ...ratings.fields],
      // A summary cannot be separated by person; the turns of other people are summarized again.
      clear: [...ids].map((id) => conversationKeys({ id, partition }).summary),
    },
  };
}

/** @param own the person's tag in a group; undefined if the whole conversation is theirs */
async function forgetIn(
  { redis, keyRing }: RecordOptions,
  conversation: ConversationRef,
  own: string | undefined,
): Promise<Pick<NonNullable<TurnCommit['erase']>, 'remove' | 'drop'>> {
  const { history } = conversationKeys(conversation);
  const turns = (await readHistory(redis, keyRing, conversation)).filter(({ turn }) => turn.speakerTag === own);
  const media = turns.flatMap(({ turn }) => storedMediaOf(turn)).map((id) => mediaKey(conversation.partition, id));
  return {
    remove: own === undefined ? [] : turns.map(({ sealed }) => ({ list: history, record: sealed })),
    drop: [...(own === undefined ? [history] : []), ...media],
  };
}
