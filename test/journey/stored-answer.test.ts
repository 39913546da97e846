import { expect, test } from '@jest/globals';
import { pendingKey } from '../../src/domain/partition-keys.ts';
import { KeyRing } from '../../src/base/key-ring.ts';
import { freePort } from '../../src/local/embedded-redis.ts';
import { ALL_PARTITIONS } from '../../src/domain/conversation.ts';
import { formatStoredAnswer } from '../../src/turn/stored-answer.ts';
import { helloStream } from '../chat/scripted-chat-server.ts';
import { useSlackTown } from '../support/slack-town.ts';
import { untilTrue } from '../support/town.ts';
import { DyingWorkersStore } from '../support/dying-workers.ts';

const town = useSlackTown();

/** The conversation that has something waiting. */
async function waitingConversation() {
  for (const partition of ALL_PARTITIONS) {
    const [id] = await town.redis.zrange(pendingKey(partition), '0', '0');
    if (id !== undefined) return { id, partition };
  }
  throw new Error('nothing waits');
}

test('an answer that was stored by a worker that died is shown whole, and the model is not asked again [never-joined]', async () => {
  town.chat.script(helloStream('another sampling'));
  await town.startBot({ ROLES: 'receiver' });
  await town.sender.direct('U1', 'a question');
  const store = new DyingWorkersStore({
    redis: town.redis,
    keyRing: new KeyRing([Buffer.from(town.env['SECRET_KEY'] ?? '', 'base64')]),
    nowMs: () => Date.now(),
    historyLifeMs: 60_000,
  });
  const claim = await store.begin(await waitingConversation());
  if (!claim) throw new Error('nothing waits');
  await store.storeAnswer(claim, formatStoredAnswer({ kind: 'answered', text: 'The answer that was stored.' }));
  await town.startBot({ ROLES: 'worker', PORT: String(await freePort()) });
  await town.untilShown('DU1', ['The answer that was stored.']);
  await untilTrue(async () => (await town.redis.zcard(pendingKey(claim.conversation.partition))) === 0);
  expect(town.chat.calls).toHaveLength(0);
});
