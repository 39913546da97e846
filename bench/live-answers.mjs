import { freePort, startEmbeddedRedis } from '../dist-modules/bot/app/local/embedded-redis.js';
import { createConversations } from './conversations.mjs';
import { startMeasured } from './measured-process.mjs';
import { startModelStandIn } from './model-stand-in.mjs';
import { BUILDS, parleyArgs, parleyEnv, slackEnv } from './parley-env.mjs';
import { makeSlackEvents } from './slack-events.mjs';
import { startSlackStandIn } from './slack-stand-in.mjs';

/** About eight seconds each. */
const PACE = { tokens: 150, firstMs: 50, perSecond: 20 };

/**
 * Runs a task while this number of answers grow in a separate Parley, with receiver and worker in one process.
 * @returns the result of the task, and the number of answers that were complete by then
 */
export async function besideLiveAnswers(atOnce, rounds, work) {
  const conversations = createConversations();
  const ends = [];
  try {
    const model = await startModelStandIn(conversations.heard);
    ends.push(() => model.stop());
    const slack = await startSlackStandIn(conversations.heard);
    ends.push(() => slack.stop());
    const redis = await startEmbeddedRedis();
    ends.push(() => redis.stop());
    const port = await freePort();
    const platform = { ...slackEnv(slack.url), WORKER_CONCURRENCY: String(atOnce) };
    const env = parleyEnv({ redisUrl: redis.url, port, roles: 'receiver,worker', chatUrl: model.url, platform });
    const parley = await startMeasured(parleyArgs(BUILDS[0]), env, { isPinned: false });
    ends.push(() => parley.stop());
    model.pace = PACE;
    const answers = conversations.run(
      `http://127.0.0.1:${port}/webhooks/slack`,
      makeSlackEvents(atOnce * rounds),
      atOnce,
    );
    const done = await work();
    return { done, answers: (await answers).length };
  } finally {
    for (const end of ends.reverse()) await end();
  }
}
