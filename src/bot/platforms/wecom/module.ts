import type { Platform } from '../platform.ts';
import type { PlatformOptions } from '../platform-module.ts';
import { createSealedTokenStore } from '../sealed-token-store.ts';
import type { Config } from '../../config/config.ts';
import { createPrivateRate, createWecom } from './index.ts';

/**
 * Creates the WeCom platform from the settings. All processes of a deployment share the access token and the rate counters.
 */
export function create({
  config,
  secrets,
  redis,
  keyRing,
  nowMs,
  log,
  onRefused,
  onWriteRefused,
}: PlatformOptions): Platform {
  const { wecom, webhook } = config;
  const { wecomAgentSecret: secret } = secrets;
  const { connection: account } = wecom;
  return createWecom({
    bot: { token: secrets.wecomBotToken ?? '', aesKey: secrets.wecomBotAesKey ?? '', name: wecom.botName },
    connection: account && { account: { ...account, secret: secrets.wecomBotSecret ?? '' }, redis, keyRing },
    agent: wecom.app && secret !== undefined ? { ...wecom.app, secret } : undefined,
    addresses: { apiUrl: wecom.apiUrl, openUrl: wecom.openUrl },
    cardUrl: cardUrlOf(config),
    hasButtons: wecom.hasButtons,
    webhookWindowSec: webhook.windowSec,
    nowMs,
    log,
    tokenStore: createSealedTokenStore(redis, keyRing, nowMs),
    privateRate: createPrivateRate(redis, log),
    refusalCallbacks: { onRefused, onWriteRefused },
  });
}

/**
 * Link of a card's body: the institution's help page if set, else the help page at the callback's address. Undefined over a
 * connection without a help page.
 */
function cardUrlOf({ http, signIn: { helpUrl }, wecom }: Config): string | undefined {
  if (helpUrl?.startsWith('http') === true) return helpUrl;
  return wecom.connection ? undefined : new URL('/webhooks/wecom', http.publicUrl).href;
}
