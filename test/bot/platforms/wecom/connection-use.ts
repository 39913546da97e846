import type { RedisClient } from '../../../../src/shared/redis/redis.ts';
import { asDeliveryId, type DeliveryId } from '../../../../src/bot/domain/ids.ts';
import { deliveryIdOf } from '../../../../src/bot/domain/conversation.ts';
import { REPLY_CHANNEL } from '../../../../src/bot/domain/reply.ts';
import { ReplyPlaces } from '../../../../src/bot/platforms/wecom/connection/reply-places.ts';
import { BOT_SOCKET_TIMING } from '../../../../src/bot/platforms/wecom/connection/bot-socket.ts';
import { createWecom } from '../../../../src/bot/platforms/wecom/index.ts';
import type { RefusedWrite } from '../../../../src/bot/platforms/write-meaning.ts';
import { untilTrue } from '../../../support/deployment.ts';
import { testKeyRing } from '../../../support/messages.ts';
import { recordingLog } from '../../../support/redis.ts';

/** WeCom over its connection, with answers that the test controls. */
export interface ConnectedWecom {
  /** @returns the id of the last message, once it is stored */
  accepted(): Promise<DeliveryId>;
  /** Sets the current snapshot of an answer. */
  show(id: DeliveryId, content: string, finished: boolean): Promise<void>;
  /** Whether nothing more is sent for an answer. */
  hasEnded(id: DeliveryId): Promise<boolean>;
  /** Answers that WeCom refused by every route. */
  notShown: { replyId: DeliveryId; userId: string; text: string }[];
  refused: RefusedWrite[];
  close(): Promise<void>;
}

const BOT_ID = 'aibot-test';

export async function connectWecom(redis: RedisClient, url: string): Promise<ConnectedWecom> {
  const { log } = recordingLog();
  const keyRing = testKeyRing();
  const looks = new Map<string, { content: string; finished: boolean }>();
  const stored: DeliveryId[] = [];
  const notShown: ConnectedWecom['notShown'] = [];
  const refused: RefusedWrite[] = [];
  const wecom = createWecom({
    bot: { token: '', aesKey: '', name: 'Parley' },
    connection: {
      account: { url, botId: BOT_ID, secret: 'secret' },
      redis,
      keyRing,
      timing: { ...BOT_SOCKET_TIMING, answerWithinMs: 300, refusalsPassWithinMs: 200 },
    },
    ...{ webhookWindowSec: 300, nowMs: Date.now, log },
    tokenStore: { read: async () => undefined, write: async () => undefined },
    privateRate: { tryAcquire: async () => true },
    refusalCallbacks: { onWriteRefused: (one) => void refused.push(one) },
  });
  const kept = wecom.connect?.({
    async take(read) {
      const delivery = read();
      if (delivery.kind === 'message') {
        const id = deliveryIdOf(delivery.message);
        looks.set(id, { content: '', finished: false });
        stored.push(id);
      }
      if (delivery.kind === 'poll') {
        const look = looks.get(delivery.replyId);
        if (!look) return false;
        delivery.answer({ replyId: delivery.replyId, ...look });
      }
      return true;
    },
    onChange: () => undefined,
    onLost: () => undefined,
    refusedNotice: 'The answer follows.',
    onUndeliverable: async (answer) => void notShown.push(answer),
  });
  const places = new ReplyPlaces(redis, keyRing, BOT_ID);
  return {
    async accepted() {
      await untilTrue(() => stored.length > 0);
      return asDeliveryId(stored.at(-1) ?? '');
    },
    async show(id, content, finished) {
      looks.set(id, { content, finished });
      await redis.publish(REPLY_CHANNEL, id);
    },
    hasEnded: async (id) => (await places.find(id)) === undefined,
    notShown,
    refused,
    close: async () => kept?.close(),
  };
}
