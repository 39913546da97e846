import type { z } from 'zod';
import { optional, secret, setting } from '../../settings/setting.ts';
import * as kinds from '../../settings/setting-kinds.ts';
import type { AssembleParts, PlatformDescription } from '../description.ts';

const API_URL = 'https://slack.com/api';

/** Slack: an app with the Events API and a bot token. */
const settings = {
  SLACK_SIGNING_SECRET: secret(kinds.textLike(/^[\x21-\x7e]{6,128}$/, "must be the app's Signing Secret"), {
    meaning: "The app's Signing Secret, from its Basic Information page.",
  }),
  SLACK_BOT_TOKEN: secret(
    kinds.textLike(
      /^(?!(?:xoxe\.)?xox[aeprs]-|xapp-)[\x21-\x7e]{5,512}$/,
      'must be a bot token, which begins with xoxb-',
    ),
    {
      meaning: 'The Bot User OAuth Token (`xoxb-…`).',
    },
  ),
  SLACK_REPLY: setting(
    kinds.oneOf('stream', 'edit'),
    'stream',
    "How answers grow: `stream` (Slack's native streaming) or `edit` (a message and edits of it).",
  ),
  SLACK_API_URL: optional(kinds.webAddress, {
    meaning: "Address of Slack's Web API, ending in /api/, for tests.",
    default: 'https://slack.com/api/; the messenger in local mode with MESSENGER_PROTOCOL=slack',
    example: 'https://slack.com/api/',
  }),
};

type Own = z.output<z.ZodObject<typeof settings>>;

/** This platform's part of the configuration. */
interface SlackConfig {
  readonly isOn: boolean;
  readonly reply: 'stream' | 'edit';
  readonly apiUrl: string;
}

export const slack = {
  name: 'slack',
  label: { en: 'Slack', zh: 'Slack' },
  settings,
  secrets: { slackSigningSecret: 'SLACK_SIGNING_SECRET', slackBotToken: 'SLACK_BOT_TOKEN' },
  credentials: ['SLACK_SIGNING_SECRET', 'SLACK_BOT_TOKEN'],
  signs: 'SLACK_SIGNING_SECRET',
  bareWords: true,
  consoleLine: (webhookUrl: string) => `Save in Slack's app under Event Subscriptions: ${webhookUrl}`,
  assemble: ({ settings: own, isOn, messengerUrl }: AssembleParts<Own>): SlackConfig => ({
    isOn,
    reply: own.SLACK_REPLY,
    apiUrl: own.SLACK_API_URL ?? (messengerUrl === undefined ? API_URL : `${messengerUrl}/api`),
  }),
  load: () => import('./module.ts'),
} as const satisfies PlatformDescription;
