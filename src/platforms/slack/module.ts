import { platformCallbackUrl } from '../callback-url.ts';
import type { Platform } from '../platform.ts';
import type { PlatformParts } from '../platform-module.ts';
import { createSlack } from './index.ts';

/** Slack from the settings. */
export function create({ config, secrets, nowMs, postSettlesWithinMs, onRefused }: PlatformParts): Platform {
  const { clientId } = config.slack;
  const { slackClientSecret: clientSecret } = secrets;
  return createSlack({
    signingSecret: secrets.slackSigningSecret ?? '',
    appToken: config.slack.connect === 'socket' ? (secrets.slackAppToken ?? '') : undefined,
    botToken: secrets.slackBotToken ?? '',
    apiUrl: config.slack.apiUrl,
    openUrl: config.slack.openUrl,
    webSignIn:
      clientId !== undefined && clientSecret !== undefined
        ? { client: { clientId, clientSecret }, redirectUri: platformCallbackUrl(config.http.publicUrl, 'slack') }
        : undefined,
    reply: config.slack.reply,
    models: config.chat.models,
    webhookWindowSec: config.webhook.windowSec,
    nowMs,
    onRefused,
    pace: { settlesWithinMs: postSettlesWithinMs },
  });
}
