import { DAY_MS } from '../../../shared/clock.ts';
import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { loadScript } from '../../../shared/redis/lua-script.ts';
import { tryOpen } from '../../../shared/crypto/decrypt-record.ts';
import { conversationKeys } from '../../domain/partition-keys.ts';
import type { RedisClient } from '../../../shared/redis/redis.ts';
import type { ConversationRef } from '../../domain/conversation.ts';
import type { DeliveryId } from '../../domain/ids.ts';

const PURPOSE = 'leftover';
const LIFE_MS = 7 * DAY_MS;
const MAX_LEFTOVERS = 5;
const keepScript = loadScript(import.meta.url, './scripts/keep-leftover.lua', {
  keys: ['leftovers'],
  args: ['deliveryId', 'sealed', 'limit', 'lifeMs'],
  answer: 'number',
});

/** A text to show before a person's next private reply, and where it is stored. */
export interface DeferredMessage {
  text: string;
  list: string;
  record: string;
}

/** Stores a text for the next reply in a person's private conversation. Safe to repeat with the same message. */
export async function storeDeferredMessage(
  redis: RedisClient,
  keyRing: KeyRing,
  leftover: { conversation: ConversationRef; deliveryId: DeliveryId; text: string },
): Promise<void> {
  const { conversation, deliveryId, text } = leftover;
  const sealed = keyRing.seal(PURPOSE, conversation.id, text);
  const args = { deliveryId, sealed, limit: MAX_LEFTOVERS, lifeMs: LIFE_MS };
  await keepScript.run(redis, conversationKeys(conversation), args);
}

/**
 * Opens the oldest readable deferred message in a turn's claim. A damaged one, or one whose key is missing, is skipped and
 * expires.
 */
export function openDeferredMessage(
  keyRing: KeyRing,
  conversation: ConversationRef,
  kept: readonly string[],
): DeferredMessage | undefined {
  for (const record of kept) {
    const opened = tryOpen(() => keyRing.open(PURPOSE, conversation.id, record.slice(record.indexOf(':') + 1)));
    if (opened.kind === 'opened') return { text: opened.value, list: conversationKeys(conversation).leftovers, record };
  }
  return undefined;
}
