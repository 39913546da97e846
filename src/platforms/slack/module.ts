import type { Platform } from '../platform.ts';
import type { PlatformParts } from '../platform-module.ts';
import { createSlack } from './index.ts';

/** Slack from the settings. */
export function create({ config, secrets, nowMs, postSettlesWithinMs, onRefused }: PlatformParts): Platform {
  return createSlack({
    signingSecret: secrets.slackSigningSecret ?? '',
    botToken: secrets.slackBotToken ?? '',
    apiUrl: config.slack.apiUrl,
    reply: config.slack.reply,
    models: config.chat.models,
    webhookWindowSec: config.webhook.windowSec,
    nowMs,
    onRefused,
    settlesWithinMs: postSettlesWithinMs,
  });
}
