import { loadScript } from '../../shared/redis/lua-script.ts';
import { conversationKeys, messageKey, messageKeyPrefix } from '../domain/partition-keys.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { conversationOf, deliveryIdOf, personIdOf, type GroupScope } from '../domain/conversation.ts';
import type { Platform } from '../platforms/platform.ts';
import type { InboundStop } from '../domain/message.ts';
import { REMEMBER_DELIVERY_MS } from './accept.ts';
import { STOP_CHANNEL } from './wake-queue.ts';

const stopScript = loadScript(import.meta.url, './scripts/stop-running.lua', {
  constants: { STOP_CHANNEL, REMEMBER_MS: REMEMBER_DELIVERY_MS },
  keys: ['state', 'stop'],
  args: ['owner', 'messagePrefix', 'opener', '...shownAt'],
  answer: 'number',
});

/**
 * Stops the answer that a person is being given just now; safe to call again with the same stop, which changes nothing.
 * Who asked it is judged in the script: a stop by anybody else meets nothing (as /stop does).
 * @returns whether there was one
 * @throws whatever the connection throws when Redis is away
 */
export async function stopRunning(
  redis: RedisClient,
  { name, tenant, app }: Pick<Platform, 'name' | 'tenant' | 'app'>,
  { stopId, chat, sender, threadBegunBy, shownAt = [], tenant: ofStop = tenant }: InboundStop,
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
    { owner: personIdOf(owner, sender.userId), messagePrefix: messageKeyPrefix(partition), opener, shownAt },
  );
  return stopped > 0;
}
