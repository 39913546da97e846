import { platformCallbackUrl, platformInstalledUrl } from '../callback-url.ts';
import type { Platform } from '../platform.ts';
import type { PlatformOptions } from '../platform-module.ts';
import { createSlack } from './index.ts';
import { Installations } from './installations.ts';

/** Creates the Slack platform from the settings. */
export function create(parts: PlatformOptions): Platform {
  const { config, secrets, redis, keyRing, nowMs, postSettlesWithinMs, modelNames, onRefused, onWriteRefused } = parts;
  const { clientId, moreWorkspaces } = config.slack;
  const { slackClientSecret: clientSecret } = secrets;
  const client = clientId !== undefined && clientSecret !== undefined ? { clientId, clientSecret } : undefined;
  const more =
    moreWorkspaces.length > 0
      ? {
          installations: new Installations(redis, keyRing, moreWorkspaces),
          redirectUri: platformInstalledUrl(config.http.publicUrl, 'slack'),
        }
      : undefined;
  return createSlack({
    signingSecret: secrets.slackSigningSecret ?? '',
    appToken: config.slack.connect === 'socket' ? (secrets.slackAppToken ?? '') : undefined,
    botToken: secrets.slackBotToken ?? '',
    apiUrl: config.slack.apiUrl,
    openUrl: config.slack.openUrl,
    webSignIn: client && { client, redirectUri: platformCallbackUrl(config.http.publicUrl, 'slack'), more },
    reply: config.slack.reply,
    talk: {
      get models() {
        return modelNames();
      },
      followsThreads: config.conversation.followsThreads,
      hasButtons: config.slack.hasButtons,
    },
    webhookWindowSec: config.webhook.windowSec,
    nowMs,
    refusalCallbacks: { onRefused, onWriteRefused },
    pace: { settlesWithinMs: postSettlesWithinMs },
  });
}
