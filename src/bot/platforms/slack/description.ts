import type { z } from 'zod';
import { optional, secret, setting } from '../../config/setting.ts';
import * as kinds from '../../config/setting-kinds.ts';
import type { AssembleParts, PlatformDescription } from '../description.ts';

const API_URL = 'https://slack.com/api';
const OPEN_URL = 'https://slack.com';

/** The app's client id in the workspace that local mode's messenger plays. */
const LOCAL_CLIENT_ID = '1000000000.2000000000';

/** What people read of the app in Slack itself. */
export const MANIFEST_TEXTS = {
  description: {
    en: 'Answers questions, privately and wherever it is mentioned',
    zh: '回答问题：可以私聊，也可以在频道里 @ 它',
  },
  command: { en: 'Ask {name}', zh: '向 {name} 提问' },
  hint: { en: 'help | stop | retry', zh: '帮助 | 停止 | 重试' },
};

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
  SLACK_CLIENT_ID: optional(kinds.textLike(/^[\w.-]{1,128}$/, "must be the app's Client ID, a name without spaces"), {
    meaning: "The app's Client ID, from its Basic Information page, for sign-in with Slack (`same-browser`).",
    example: '1234567890.9876543210',
  }),
  SLACK_CLIENT_SECRET: secret(kinds.text, { meaning: "The app's Client Secret, from the same page." }),
  SLACK_BOT_NAME: setting(
    kinds.textLike(/^(?! )[^\p{Cc}]{1,35}(?<! )$/u, 'must be a name of at most 35 characters'),
    'Parley',
    "The app's name in the manifest that `npm run slack:manifest` makes.",
  ),
  SLACK_MORE_WORKSPACES: optional(
    kinds.listOf(kinds.textLike(/^T[A-Z0-9]{1,20}$/, 'must be a workspace id'), 'workspace ids such as T0123ABCD'),
    {
      meaning:
        'Further workspaces that may install the app at `PUBLIC_URL/install/slack`, by their ids; `SLACK_BOT_TOKEN` is the first one’s.',
      default: 'none',
      example: 'T0123ABCD,T0456EFGH',
    },
  ),
  SLACK_CONNECT: setting(
    kinds.oneOf('http', 'socket'),
    'http',
    'How Slack delivers: `http` (it calls `/webhooks/slack`) or `socket` (Parley opens connections to Slack; no public address is needed for it).',
  ),
  SLACK_APP_TOKEN: secret(
    kinds.textLike(/^xapp-[\x21-\x7e]{5,512}$/, 'must be an app-level token, which begins with xapp-'),
    {
      meaning: 'The app-level token (`xapp-…`, scope `connections:write`), with `SLACK_CONNECT=socket`.',
    },
  ),
  SLACK_REPLY: setting(
    kinds.oneOf('stream', 'edit'),
    'stream',
    "How answers grow: `stream` (Slack's native streaming) or `edit` (a message and edits of it).",
  ),
  SLACK_BUTTONS: setting(
    kinds.yesOrNo,
    'yes',
    "Whether answers have buttons: stop, try again, good and bad. Slack must know where presses go (the app's Interactivity, which the manifest sets).",
  ),
  SLACK_API_URL: optional(kinds.webAddress, {
    meaning: "Address of Slack's Web API, ending in /api/, for tests.",
    default: 'https://slack.com/api/; the messenger in local mode with MESSENGER_PROTOCOL=slack',
    example: 'https://slack.com/api/',
  }),
  SLACK_OPEN_URL: optional(kinds.webAddress, {
    meaning: "Address of Slack's web sign-in, for tests.",
    default: 'https://slack.com; the messenger in local mode with MESSENGER_PROTOCOL=slack',
    example: 'https://slack.com',
  }),
};

type Own = z.output<z.ZodObject<typeof settings>>;

/** This platform's part of the configuration. */
interface SlackConfig {
  readonly isOn: boolean;
  readonly connect: 'http' | 'socket';
  readonly reply: 'stream' | 'edit';
  readonly hasButtons: boolean;
  readonly apiUrl: string;
  /** Of the app, when its web sign-in is set up. */
  readonly clientId: string | undefined;
  readonly openUrl: string;
  /** Further workspaces that may install it. */
  readonly moreWorkspaces: readonly string[];
}

export const slack = {
  name: 'slack',
  label: { en: 'Slack', zh: 'Slack' },
  settings,
  secrets: {
    slackSigningSecret: 'SLACK_SIGNING_SECRET',
    slackBotToken: 'SLACK_BOT_TOKEN',
    slackClientSecret: 'SLACK_CLIENT_SECRET',
    slackAppToken: 'SLACK_APP_TOKEN',
  },
  credentials: ['SLACK_SIGNING_SECRET', 'SLACK_BOT_TOKEN'],
  connection: {
    setting: 'SLACK_CONNECT',
    value: 'socket',
    credentials: ['SLACK_APP_TOKEN', 'SLACK_BOT_TOKEN'],
    consoleLine: 'Switch Socket Mode on in Slack’s app: nothing else has to be saved there',
  },
  webSignIn: ['SLACK_CLIENT_ID', 'SLACK_CLIENT_SECRET'],
  needs: { SLACK_MORE_WORKSPACES: ['SLACK_BOT_TOKEN', 'SLACK_CLIENT_ID', 'SLACK_CLIENT_SECRET'] },
  signs: 'SLACK_SIGNING_SECRET',
  nameSetting: 'SLACK_BOT_NAME',
  bareWords: true,
  consoleLine: (webhookUrl: string) => `Save in Slack's app under Event Subscriptions: ${webhookUrl}`,
  assemble: ({ settings: own, isOn, messengerUrl }: AssembleParts<Own>): SlackConfig => ({
    isOn,
    connect: own.SLACK_CONNECT,
    reply: own.SLACK_REPLY,
    hasButtons: own.SLACK_BUTTONS,
    apiUrl: own.SLACK_API_URL ?? (messengerUrl === undefined ? API_URL : `${messengerUrl}/api`),
    clientId: messengerUrl === undefined ? own.SLACK_CLIENT_ID : LOCAL_CLIENT_ID,
    openUrl: own.SLACK_OPEN_URL ?? messengerUrl ?? OPEN_URL,
    moreWorkspaces: own.SLACK_MORE_WORKSPACES ?? [],
  }),
} as const satisfies PlatformDescription;
