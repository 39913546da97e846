import { conversationKeys } from '../domain/partition-keys.ts';
import { DAY_MS } from '../../shared/clock.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { tryOpen } from '../../shared/crypto/decrypt-record.ts';
import type { ConversationRef } from '../domain/conversation.ts';

const PURPOSE = 'notice';
const NOTICE_LIFE_MS = 7 * DAY_MS;
const MAX_NOTICES = 5;

/**
 * Stores a notice for a person whom the platform does not let us message first. It is shown, apart from the text, with the
 * next reply in their private chat.
 * @param conversation the person's private conversation
 */
export async function storeNotice(
  redis: RedisClient,
  keyRing: KeyRing,
  notice: { conversation: ConversationRef; text: string },
): Promise<void> {
  const { notices } = conversationKeys(notice.conversation);
  const sealed = keyRing.seal(PURPOSE, notice.conversation.id, notice.text);
  // Removed before it is added, so that a resent command adds no duplicate (SECURITY.md repeatable-scripts).
  const steps = redis.multi().lrem(notices, 0, sealed).rpush(notices, sealed);
  await steps.ltrim(notices, -MAX_NOTICES, -1).pexpire(notices, NOTICE_LIFE_MS).exec();
}

/**
 * Opens the notices in a turn's claim. A notice whose key is missing here stays, for a worker that has the key, until it
 * expires. An altered notice is never shown.
 * @returns the texts, and the sealed notices to delete once the texts are shown
 */
export function openNotices(
  keyRing: KeyRing,
  conversation: ConversationRef,
  sealed: string[],
): { texts: string[]; done: string[] } {
  const texts: string[] = [];
  const done: string[] = [];
  for (const notice of sealed) {
    const opened = tryOpen(() => keyRing.open(PURPOSE, conversation.id, notice));
    if (opened.kind === 'opened') texts.push(opened.value);
    if (opened.kind !== 'key-lacking') done.push(notice);
  }
  return { texts, done };
}
