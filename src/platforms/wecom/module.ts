import type { Platform } from '../platform.ts';
import type { PlatformParts } from '../platform-module.ts';
import { createSealedTokenStore } from '../sealed-token-store.ts';
import { createPrivateRate, createWecom } from './index.ts';

/** WeCom from the settings. Token and counts are shared by all processes of a deployment. */
export function create({ config, secrets, redis, keyRing, nowMs, log, onRefused }: PlatformParts): Platform {
  const { wecom, webhook } = config;
  const agent = wecom.app &&
    secrets.wecomAgentSecret !== undefined && { ...wecom.app, agentSecret: secrets.wecomAgentSecret };
  return createWecom({
    botToken: secrets.wecomBotToken ?? '',
    botAesKey: secrets.wecomBotAesKey ?? '',
    botName: wecom.botName,
    ...agent,
    apiUrl: wecom.apiUrl,
    openUrl: wecom.openUrl,
    webhookWindowSec: webhook.windowSec,
    nowMs,
    log,
    tokenStore: createSealedTokenStore(redis, keyRing, nowMs),
    privateRate: createPrivateRate(redis, log),
    onRefused,
  });
}
