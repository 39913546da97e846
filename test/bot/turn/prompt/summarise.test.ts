import { beforeEach, expect, test } from '@jest/globals';
import { HOUR_MS } from '../../../../src/shared/clock.ts';
import { conversationKeys } from '../../../../src/bot/domain/partition-keys.ts';
import type { ChatClient, ChatRequest } from '../../../../src/bot/model/chat-types.ts';
import { sealTurn } from '../../../../src/bot/turn/conversation/history.ts';
import { openSummary } from '../../../../src/bot/turn/conversation/summary.ts';
import { SummaryStore } from '../../../../src/bot/turn/conversation/summary-store.ts';
import { conversationOf } from '../../../../src/bot/domain/conversation.ts';
import { asDeliveryId } from '../../../../src/bot/domain/ids.ts';
import { createSummarise } from '../../../../src/bot/turn/prompt/summarise.ts';
import { turnOf } from '../conversation/turns.ts';
import { testKeyRing, textMessage } from '../../../support/messages.ts';
import { useTestRedis } from '../../../support/use-test-redis.ts';

const keyRing = testKeyRing();
const conversation = conversationOf(textMessage('x'), 'member');
const keys = conversationKeys(conversation);
const server = useTestRedis();
beforeEach(() => server.redis.flushall());

/** A model that answers every request with two words. */
const asked: ChatRequest[] = [];
const chat: Pick<ChatClient, 'stream'> = {
  async stream(request, _signal, onEvent) {
    asked.push(request);
    await Promise.resolve();
    onEvent({ type: 'text', delta: 'the notes' });
    onEvent({ type: 'end', reason: 'stop' });
  },
};

async function summarise(turnId: string): Promise<string> {
  const store = new SummaryStore(server.redis, keyRing, HOUR_MS);
  const run = createSummarise({
    chat,
    keyRing,
    store,
    model: () => 'svc-lite',
    promptTokens: 24_000,
    nowMs: Date.now,
    timeZone: 'UTC',
  });
  return run({ conversation, turnId: asDeliveryId(turnId), isShared: false }, new AbortController().signal);
}

test('a summary covers all but the newest turns even when they are short, so that it is not rewritten after each turn', async () => {
  const turns = Array.from({ length: 70 }, (_, index) =>
    turnOf({ turnId: asDeliveryId(`t${index}`), atMs: index + 1 }),
  );
  await server.redis.rpush(keys.history, ...turns.map((turn) => sealTurn(keyRing, conversation.id, turn)));
  expect(await summarise('t20')).toBe('written');
  const kept = openSummary(keyRing, conversation.id, (await server.redis.get(keys.summary)) ?? '');
  // All but the last turn, which /retry may replace, and the 25 before it.
  expect(kept).toMatchObject({ text: 'the notes', coveredToMs: 70 - 1 - 25 });
  expect(await summarise('t20')).toBe('nothing');
});
