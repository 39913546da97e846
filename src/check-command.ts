import { checkChat } from './admin/check-chat.ts';
import { checkPublicUrl } from './admin/check-public-url.ts';
import { checkRedis } from './admin/check-redis.ts';
import { checkSignIn } from './admin/check-sign-in.ts';
import { runChecks, type Check } from './admin/run-checks.ts';
import { createLog } from './base/log.ts';
import { connectRedis } from './base/redis.ts';
import { createPlatforms } from './bot-parts.ts';
import { createKeyRing, redisAddress } from './secret-parts.ts';
import { faultsOfNamedFiles } from './named-files.ts';
import { findRedisProgram } from './local/redis-program.ts';
import type { CheckResult } from './platforms/platform.ts';
import type { Config, Secrets } from './settings/config.ts';

/**
 * `npm run check`: tries what the settings name, live; one line each. Parts that Parley brings itself are only named,
 * since they come and go with `npm start`.
 * @returns the exit code of contract section 1
 */
export async function runCheckCommand(config: Config, secrets: Secrets): Promise<number> {
  const log = createLog({ level: 'silent', format: 'json' });
  const address = redisAddress(config, secrets);
  const { chat, signIn, http } = config;
  const hasBot = config.roles.includes('receiver') || config.roles.includes('worker');
  const checks: Check[] = [
    { name: 'Files', run: () => checkNamedFiles(config) },
    config.embedded.redis
      ? embedded('Redis', `embedded, started by npm start (${findRedisProgram()})`)
      : { name: 'Redis', run: () => checkRedis({ address, isLossAllowed: config.redis.allowDataLoss, log }) },
    config.embedded.chat
      ? embedded('Chat service', 'embedded; set CHAT_BASE_URL for your own')
      : {
          name: 'Chat service',
          run: () =>
            checkChat({
              baseUrl: chat.baseUrl,
              apiKey: secrets.chatApiKey ?? '',
              models: chat.models,
              model: chat.model,
              fallbackModel: chat.fallbackModel,
            }),
        },
    ...(signIn.mode === 'off' ? [] : [checkOfSignIn(config)]),
    ...(config.mode === 'local'
      ? [embedded('Messaging app', 'embedded; set WECOM_BOT_TOKEN and others for WeCom')]
      : platformChecks(config, secrets)),
    ...(config.mode === 'local' || !hasBot
      ? []
      : [
          {
            name: 'Public address',
            run: () => checkPublicUrl({ publicUrl: http.publicUrl, platforms: config.wecom.isBotOn ? ['wecom'] : [] }),
          },
        ]),
  ];
  return runChecks(checks, process.stdout);
}

async function checkNamedFiles(config: Config): Promise<CheckResult[]> {
  const name = 'Files';
  const faults = await faultsOfNamedFiles(config);
  if (faults.length === 0) return [{ name, verdict: 'ok', detail: 'all that the settings name can be used' }];
  return faults.map((detail) => ({ name, verdict: 'fault', detail }));
}

function embedded(name: string, detail: string): Check {
  return { name, run: async () => [{ name, verdict: 'ok', detail }] };
}

function checkOfSignIn({ embedded: { signIn: isEmbedded }, signIn, http }: Config): Check {
  const name = 'Sign-in service';
  if (isEmbedded) return embedded(name, 'embedded; set SIGN_IN_URL for your own');
  return {
    name,
    run: () => checkSignIn({ authUrl: signIn.url, clientId: signIn.clientId, publicUrl: http.publicUrl }),
  };
}

/** The platforms judge their own credentials. */
function platformChecks(config: Config, secrets: Secrets): Check[] {
  if (!config.wecom.isBotOn) return [];
  return [{ name: 'WeCom', run: () => checkWecom(config, secrets) }];
}

async function checkWecom(config: Config, secrets: Secrets): Promise<CheckResult[]> {
  const log = createLog({ level: 'silent', format: 'json' });
  const redis = connectRedis(redisAddress(config, secrets), 'fail-fast', log, 'check');
  try {
    const platforms = createPlatforms({ config, secrets, nowMs: Date.now, log }, redis, createKeyRing(secrets));
    return (await Promise.all([...platforms.values()].map((platform) => platform.check()))).flat();
  } finally {
    redis.disconnect();
  }
}
