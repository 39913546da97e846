// A separate process that requests one person's access token, like a worker; started by refresh-processes.test.ts. Messages:
// { start: … } restarts it, and { callers: N } makes N parallel requests. It replies with the outcome of each.
import { KeyRing } from '../../../dist-modules/shared/crypto/key-ring.js';
import { createLog } from '../../../dist-modules/shared/log.js';
import { connectRedis } from '../../../dist-modules/shared/redis/redis.js';
import { createIdentity } from '../../../dist-modules/bot/identity/identity.js';

let ask;
let redis;

function start({ redisUrl, secretKey, publicUrl, signIn, nowMs, owner, chatUserId }) {
  const log = createLog({ level: 'error', format: 'json', destination: { write: () => undefined } });
  redis?.disconnect();
  redis = connectRedis({ urls: [redisUrl] }, 'wait', log, 'refresh-process');
  const identity = createIdentity({
    redis,
    keyRing: new KeyRing([Buffer.from(secretKey, 'base64')]),
    platforms: new Map(),
    pages: { publicUrl, providerName: { en: 'Example University', zh: 'Example University' } },
    chat: { onLinked: () => undefined, notify: () => undefined },
    signIn,
    nowMs: () => nowMs,
    log,
    report: { event: () => undefined, sealedRecords: () => undefined },
  });
  ask = () => identity.freshAccessToken(owner, chatUserId);
}

process.on('message', async ({ start: given, callers }) => {
  if (given) start(given);
  const startedMs = performance.now();
  const ends = await Promise.allSettled(Array.from({ length: callers ?? 0 }, () => ask()));
  const tokens = ends.map((end) => (end.status === 'fulfilled' ? end.value : `failed: ${end.reason.code}`));
  process.send({ tokens, tookMs: performance.now() - startedMs });
});
