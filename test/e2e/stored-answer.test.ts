import { expect, test } from '@jest/globals';
import { pendingKey } from '../../src/bot/domain/partition-keys.ts';
import { readTraces } from '../../src/bot/queue/read-trace.ts';
import { KeyRing } from '../../src/shared/crypto/key-ring.ts';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { ALL_PARTITIONS } from '../../src/bot/domain/conversation.ts';
import { asConversationId } from '../../src/bot/domain/ids.ts';
import { formatStoredAnswer } from '../../src/bot/turn/stored-answer.ts';
import { helloStream } from '../bot/model/scripted-chat-server.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { untilTrue } from '../support/deployment.ts';
import { DyingWorkersStore } from '../support/dying-workers.ts';

const deployment = useSlackDeployment();

/** Finds the conversation with waiting messages. */
async function waitingConversation() {
  for (const partition of ALL_PARTITIONS) {
    const [id] = await deployment.redis.zrange(pendingKey(partition), '0', '0');
    if (id !== undefined) return { id: asConversationId(id), partition };
  }
  throw new Error('nothing waits');
}

test('an answer stored by a worker that died is shown completely, without a second model call [never-joined]', async () => {
  deployment.chat.script(helloStream('another sampling'));
  await deployment.startBot({ ROLES: 'receiver' });
  await deployment.sender.direct('U1', 'a question');
  const store = new DyingWorkersStore({
    redis: deployment.redis,
    keyRing: new KeyRing([Buffer.from(deployment.env['SECRET_KEY'] ?? '', 'base64')]),
    nowMs: () => Date.now(),
    historyLifeMs: 60_000,
  });
  const claim = await store.begin(await waitingConversation());
  if (!claim) throw new Error('nothing waits');
  await store.storeAnswer(claim, formatStoredAnswer({ kind: 'answered', text: 'The answer that was stored.' }));
  await deployment.startBot({ ROLES: 'worker', PORT: String(await freePort()) });
  // The claim of the dead worker must expire first.
  await deployment.untilShown('DU1', ['The answer that was stored.'], 40_000);
  await untilTrue(async () => (await deployment.redis.zcard(pendingKey(claim.conversation.partition))) === 0);
  expect(deployment.chat.calls).toHaveLength(0);
  const [trace] = await readTraces(deployment.redis, claim.turnId);
  expect(trace?.steps).toContainEqual(
    expect.objectContaining({ step: 'answer of an earlier worker', values: { from: 'stored' } }),
  );
});
