import { loadScript } from '../../shared/redis/lua-script.ts';
import { conversationKeys, messageKey, messageKeyPrefix } from '../domain/partition-keys.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { conversationOf, deliveryIdOf, personIdOf, type GroupScope } from '../domain/conversation.ts';
import type { Platform } from '../platforms/platform.ts';
import type { InboundStop } from '../domain/message.ts';
import { REMEMBER_DELIVERY_MS } from './accept.ts';
import { TURN_NEWS } from '../domain/turn-news.ts';

const stopScript = loadScript(import.meta.url, './scripts/stop-running.lua', {
  libraries: [TURN_NEWS],
  constants: { REMEMBER_MS: REMEMBER_DELIVERY_MS },
  keys: ['state', 'stop'],
  args: ['owner', 'messagePrefix', 'opener', 'chatOrder?', '...shownAt'],
  answer: 'number',
});

/**
 * Stops a person's running answer. Safe to repeat with the same stop. The script checks who asked: a stop by another person
 * has no effect (as with /stop).
 * @returns whether an answer was stopped, or will be stopped if its post, which is not stored yet, is the one meant
 * @throws the connection's error when Redis is unavailable
 */
export async function stopRunning(
  redis: RedisClient,
  { name, tenant, app }: Pick<Platform, 'name' | 'tenant' | 'app'>,
  { stopId, chat, sender, threadBegunBy, chatOrder, shownAt = [], tenant: ofStop = tenant }: InboundStop,
  groupScope: GroupScope,
): Promise<boolean> {
  const owner = { platform: name, tenant: ofStop, app };
  const conversation = conversationOf({ ...owner, chat, sender }, groupScope);
  const { partition } = conversation;
  const idOf = (messageId: string) => deliveryIdOf({ ...owner, messageId });
  const opener = threadBegunBy === undefined ? '' : idOf(threadBegunBy);
  const stopped = await stopScript.run(
    redis,
    { state: conversationKeys(conversation).state, stop: messageKey(partition, idOf(stopId)) },
    { owner: personIdOf(owner, sender.userId), messagePrefix: messageKeyPrefix(partition), opener, chatOrder, shownAt },
  );
  return stopped > 0;
}
