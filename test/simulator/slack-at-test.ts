import { got } from 'got';
import { slackProtocol, type SlackOptions } from '../../src/simulator/slack/index.ts';
import { startMessenger, type Messenger } from '../../src/simulator/start-messenger.ts';
import { aroundAtTest, FAST, type AtTest } from './messenger-at-test.ts';
import { BOT_TOKEN, SIGNING_SECRET } from './stand-in-slack-bot.ts';

type SlackAtTest = AtTest & Pick<SlackOptions, 'rateFactor' | 'timing' | 'scopes'> & { isConnected?: boolean };

export const APP_TOKEN = 'xapp-for-tests';

/** Slack's delays, 100 times shorter where a test only waits. */
export const FAST_SLACK = { ackTimeoutMs: 400, retryPausesMs: [0, 60, 120], editQuietMs: 120 };

export const SLACK_CLIENT = { clientId: '12345.67890', clientSecret: 'client-secret-of-the-app' };

export function startSlackAtTest({
  rateFactor,
  scopes,
  timing,
  isConnected = false,
  ...options
}: SlackAtTest): Promise<Messenger> {
  return startMessenger({
    ...aroundAtTest(options),
    protocol: slackProtocol({
      signingSecret: SIGNING_SECRET,
      botToken: BOT_TOKEN,
      client: SLACK_CLIENT,
      appToken: isConnected ? APP_TOKEN : undefined,
      rateFactor,
      scopes,
      timing: { ...FAST_SLACK, ...timing },
    }),
    deps: { nowMs: options.nowMs, pageDir: options.pageDir, timing: FAST },
  });
}

export interface ApiAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Record<string, unknown> & { ok: boolean; error?: string; ts?: string };
}

/** Calls Slack's Web API like a bot, by default with JSON and the bot's token. */
export async function callApi(
  messenger: Messenger,
  method: string,
  args: object = {},
  headers: Record<string, string> = { authorization: `Bearer ${BOT_TOKEN}` },
): Promise<ApiAnswer> {
  return callRaw(messenger, method, JSON.stringify(args), {
    'content-type': 'application/json; charset=utf-8',
    ...headers,
  });
}

/** Calls the API with a raw body. */
export async function callRaw(
  messenger: Messenger,
  method: string,
  body: string,
  headers: Record<string, string>,
): Promise<ApiAnswer> {
  const answer = await got.post(`${messenger.url}/api/${method}`, {
    body,
    headers,
    throwHttpErrors: false,
    retry: { limit: 0 },
  });
  return { status: answer.statusCode, headers: answer.headers, body: JSON.parse(answer.body) as ApiAnswer['body'] };
}
