// The simulator alone in a separate process, from the compiled modules, so that a test can freeze it.
import { createLog } from '../../dist-modules/shared/log.js';
import { connectRedis } from '../../dist-modules/shared/redis/redis.js';
import { startMessenger } from '../../dist-modules/simulator/start-messenger.js';
import { wecomProtocol } from '../../dist-modules/simulator/wecom/index.js';

const { REDIS_URL, BOT_URL, BOT_TOKEN, BOT_AES_KEY } = process.env;
const log = createLog({ level: 'warn', format: 'json' });
const messenger = await startMessenger({
  address: { port: 0, host: '127.0.0.1' },
  redis: connectRedis({ urls: [REDIS_URL] }, 'wait', log, 'messenger'),
  bot: { name: 'Parley', url: BOT_URL },
  service: { url: 'http://127.0.0.1:9' },
  protocol: wecomProtocol({
    bot: { token: BOT_TOKEN, aesKey: BOT_AES_KEY, aiBotId: 'AIBOT1' },
    app: { corpId: 'wwcorp1', agentId: '1000002', agentSecret: 'agent-secret-for-tests' },
  }),
  office: { people: [{ id: 'lin', name: 'Lin Yue', department: 'Physics' }], groups: [] },
  deps: { timing: { watchAwayMs: 20, watchThereMs: 500 } },
  log,
});
process.stdout.write(`The messenger is running at ${messenger.url}\n`);
