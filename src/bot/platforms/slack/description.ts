import type { z } from 'zod';
import { optional, secret, setting } from '../../config/setting.ts';
import * as kinds from '../../config/setting-kinds.ts';
import type { AssembleOptions, PlatformDescription } from '../description.ts';

const API_URL = 'https://slack.com/api';
const OPEN_URL = 'https://slack.com';

/** The app's client id in the simulator's workspace. */
const LOCAL_CLIENT_ID = '1000000000.2000000000';

/** Texts about the app that people see in Slack. */
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
    level: 'first',
  }),
  SLACK_BOT_TOKEN: secret(
    kinds.textLike(
      /^(?!(?:xoxe\.)?xox[aeprs]-|xapp-)[\x21-\x7e]{5,512}$/,
      'must be a bot token, which begins with xoxb-',
    ),
    {
      meaning: 'The Bot User OAuth Token (`xoxb-…`).',
      level: 'first',
    },
  ),
  SLACK_CLIENT_ID: optional(kinds.textLike(/^[\w.-]{1,128}$/, "must be the app's Client ID, without spaces"), {
    meaning: "The app's Client ID, for sign-in with Slack (`same-browser`) and more workspaces.",
    example: '1234567890.9876543210',
    level: 'common',
  }),
  SLACK_CLIENT_SECRET: secret(kinds.text, { meaning: "The app's Client Secret.", level: 'common' }),
  SLACK_BOT_NAME: setting(
    kinds.textLike(/^(?! )[^\p{Cc}]{1,35}(?<! )$/u, 'must be a name of at most 35 characters'),
    'Parley',
    "The app's name in the manifest that `npm run slack:manifest` creates.",
    'common',
  ),
  SLACK_MORE_WORKSPACES: optional(
    kinds.listOf(kinds.textLike(/^T[A-Z0-9]{1,20}$/, 'must be a workspace id'), 'workspace ids such as T0123ABCD'),
    {
      meaning: 'Further workspaces that may install the app at `PUBLIC_URL/install/slack`.',
      default: 'none',
      example: 'T0123ABCD,T0456EFGH',
      level: 'common',
    },
  ),
  SLACK_CONNECT: setting(
    kinds.oneOf('http', 'socket'),
    'http',
    'How Slack delivers: `http` (to `/webhooks/slack`) or `socket` (opened by Parley, without a public address).',
    'common',
  ),
  SLACK_APP_TOKEN: secret(
    kinds.textLike(/^xapp-[\x21-\x7e]{5,512}$/, 'must be an app-level token, which begins with xapp-'),
    {
      meaning: 'The app-level token (`xapp-…`, scope `connections:write`), with `SLACK_CONNECT=socket`.',
      level: 'common',
    },
  ),
  SLACK_REPLY: setting(
    kinds.oneOf('stream', 'edit'),
    'stream',
    "How answers grow: `stream` (Slack's native streaming) or `edit` (edits of a message).",
  ),
  SLACK_BUTTONS: setting(
    kinds.yesOrNo,
    'yes',
    "Whether answers have buttons: stop, try again, good and bad. Requires the app's Interactivity.",
    'common',
  ),
  SLACK_API_URL: optional(kinds.webAddress, {
    meaning: "Slack's Web API, for tests.",
    default: 'https://slack.com/api/; the messenger in local mode',
    example: 'https://slack.com/api/',
  }),
  SLACK_OPEN_URL: optional(kinds.webAddress, {
    meaning: "Slack's web sign-in, for tests.",
    default: 'https://slack.com; the messenger in local mode',
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
  /** Set if web sign-in is configured. */
  readonly clientId: string | undefined;
  readonly openUrl: string;
  /** Further workspaces that may install the app. */
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
    consoleLine: 'Enable Socket Mode in the Slack app; no address has to be saved there',
  },
  webSignIn: ['SLACK_CLIENT_ID', 'SLACK_CLIENT_SECRET'],
  needs: { SLACK_MORE_WORKSPACES: ['SLACK_BOT_TOKEN', 'SLACK_CLIENT_ID', 'SLACK_CLIENT_SECRET'] },
  signs: 'SLACK_SIGNING_SECRET',
  nameSetting: 'SLACK_BOT_NAME',
  bareWords: true,
  consoleLine: (webhookUrl: string) => `In the Slack app under Event Subscriptions, save: ${webhookUrl}`,
  assemble: ({ settings: own, isOn, messengerUrl }: AssembleOptions<Own>): SlackConfig => ({
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
