import type { z } from 'zod';
import { optional, secret, setting } from '../../config/setting.ts';
import * as kinds from '../../config/setting-kinds.ts';
import type { AssembleOptions, PlatformDescription } from '../description.ts';

const API_URL = 'https://qyapi.weixin.qq.com';
const OPEN_URL = 'https://open.weixin.qq.com';
const WS_URL = 'wss://openws.work.weixin.qq.com';

/** The bot in the simulator, and its address there. */
const LOCAL_BOT_ID = 'aibot-parley';
const LOCAL_WS_PATH = '/wecom-connection';
/** The self-built app in the simulator. */
const LOCAL_APP = { corpId: 'wwparleylocal', agentId: '1000002' };

/**
 * WeCom: the AI bot, by callback or connection, and the self-built app, whose web sign-in identifies the person who opened a
 * link.
 */
const settings = {
  WECOM_BOT_TOKEN: secret(kinds.textLike(/^[\w-]{1,32}$/, "must be the bot's Token: at most 32 letters and digits"), {
    meaning: "The AI bot's Token, from its callback settings.",
    level: 'first',
  }),
  WECOM_BOT_AES_KEY: secret(
    kinds.textLike(/^[A-Za-z0-9+/]{43}$/, "must be the bot's EncodingAESKey: 43 letters and digits"),
    {
      meaning: "The AI bot's EncodingAESKey.",
      level: 'first',
    },
  ),
  WECOM_BOT_NAME: setting(
    kinds.text,
    'Parley',
    "The bot's display name, by which its mention in a group is recognised.",
    'common',
  ),
  WECOM_CONNECT: setting(
    kinds.oneOf('callback', 'connection'),
    'callback',
    'How WeCom delivers: `callback` (to `/webhooks/wecom`) or `connection` (opened by Parley, without a public address).',
    'common',
  ),
  WECOM_BOT_ID: optional(kinds.textLike(/^[\x21-\x7e]{1,128}$/, 'must be the Bot ID, without spaces'), {
    meaning: "The AI bot's Bot ID, with `WECOM_CONNECT=connection`.",
    example: 'aibAbCdEf0123456789',
    level: 'common',
  }),
  WECOM_BOT_SECRET: secret(
    kinds.textLike(/^[\x21-\x7e]{1,256}$/, "must be the long connection's Secret, without spaces"),
    {
      meaning: "The AI bot's Secret, with `WECOM_CONNECT=connection`.",
      level: 'common',
    },
  ),
  WECOM_BUTTONS: setting(
    kinds.yesOrNo,
    'no',
    'Whether each answer has a permanent card with *stop* and *try again*. With `WECOM_CONNECT=connection` it has no *stop* and requires `SIGN_IN_HELP_URL`.',
    'common',
  ),
  WECOM_CORP_ID: optional(kinds.textLike(/^[\w.:/@-]+$/, 'must be a name without spaces'), {
    meaning: "The company's CorpId, for sign-in inside WeCom and app messages.",
    example: 'ww0123456789abcdef',
    level: 'common',
  }),
  WECOM_AGENT_ID: optional(kinds.textLike(/^\d{1,20}$/, 'must be the AgentId, a number'), {
    meaning: "The self-built app's AgentId.",
    example: '1000002',
    level: 'common',
  }),
  WECOM_AGENT_SECRET: secret(kinds.text, { meaning: "The self-built app's Secret.", level: 'common' }),
  WECOM_API_URL: optional(kinds.webAddress, {
    meaning: "WeCom's server interface, for private deployments and tests.",
    default: 'https://qyapi.weixin.qq.com; the messenger in local mode',
    example: 'https://qyapi.weixin.qq.com',
  }),
  WECOM_WS_URL: optional(kinds.socketAddress, {
    meaning: "WeCom's connections, for private deployments and tests.",
    default: 'wss://openws.work.weixin.qq.com; the messenger in local mode',
    example: 'wss://openws.work.weixin.qq.com',
  }),
  WECOM_OPEN_URL: optional(kinds.webAddress, {
    meaning: "WeCom's web sign-in, for private deployments and tests.",
    default: 'https://open.weixin.qq.com; the messenger in local mode',
    example: 'https://open.weixin.qq.com',
  }),
};

type Own = z.output<z.ZodObject<typeof settings>>;

/** This platform's part of the configuration. */
interface WecomConfig {
  /** Whether this process serves the AI bot. */
  readonly isBotOn: boolean;
  readonly botName: string;
  /** Whether answers have a card with buttons. */
  readonly hasButtons: boolean;
  /** The self-built app; undefined without its credentials. */
  readonly app: { readonly corpId: string; readonly agentId: string } | undefined;
  /** Address and credentials of the bot's connection; undefined if it uses the callback. */
  readonly connection: { readonly url: string; readonly botId: string } | undefined;
  readonly apiUrl: string;
  readonly openUrl: string;
}

export const wecom = {
  name: 'wecom',
  label: { en: 'WeCom', zh: '企业微信' },
  settings,
  secrets: {
    wecomBotToken: 'WECOM_BOT_TOKEN',
    wecomBotAesKey: 'WECOM_BOT_AES_KEY',
    wecomBotSecret: 'WECOM_BOT_SECRET',
    wecomAgentSecret: 'WECOM_AGENT_SECRET',
  },
  credentials: ['WECOM_BOT_TOKEN', 'WECOM_BOT_AES_KEY'],
  connection: {
    setting: 'WECOM_CONNECT',
    value: 'connection',
    credentials: ['WECOM_BOT_SECRET', 'WECOM_BOT_ID'],
    consoleLine: 'Set the API mode of the WeCom bot to the long connection; no address has to be saved there',
  },
  webSignIn: ['WECOM_CORP_ID', 'WECOM_AGENT_ID', 'WECOM_AGENT_SECRET'],
  signs: 'WECOM_BOT_TOKEN',
  nameSetting: 'WECOM_BOT_NAME',
  advice: {
    WECOM_BOT_NAME: "WECOM_BOT_NAME is not set: mentions are recognised only if the bot's name in WeCom is Parley",
  },
  prefix: 'WECOM_',
  consoleLine: (webhookUrl: string) => `In WeCom's console, save as the bot's callback URL: ${webhookUrl}`,
  assemble({ settings: own, isOn, messengerUrl }: AssembleOptions<Own>): WecomConfig {
    const { WECOM_CORP_ID: corpId, WECOM_AGENT_ID: agentId } = own;
    const named = corpId !== undefined && agentId !== undefined ? { corpId, agentId } : undefined;
    const socketUrl = messengerUrl === undefined ? WS_URL : messengerUrl.replace(/^http/, 'ws') + LOCAL_WS_PATH;
    const botId = messengerUrl === undefined ? own.WECOM_BOT_ID : LOCAL_BOT_ID;
    const isConnected = own.WECOM_CONNECT === 'connection' && botId !== undefined;
    return {
      isBotOn: isOn,
      botName: own.WECOM_BOT_NAME,
      hasButtons: own.WECOM_BUTTONS,
      connection: isConnected ? { url: own.WECOM_WS_URL ?? socketUrl, botId } : undefined,
      app: messengerUrl === undefined ? named : LOCAL_APP,
      apiUrl: own.WECOM_API_URL ?? messengerUrl ?? API_URL,
      openUrl: own.WECOM_OPEN_URL ?? messengerUrl ?? OPEN_URL,
    };
  },
} as const satisfies PlatformDescription;
