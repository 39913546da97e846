import { createSecretKey } from 'node:crypto';
import type { RawDelivery } from '../../../../src/bot/platforms/platform.ts';
import { createSlack, type SlackOptions } from '../../../../src/bot/platforms/slack/index.ts';
import { signDelivery } from '../../../../src/bot/platforms/slack/verify-delivery.ts';

export const SIGNING_SECRET = '8f742231b10e8888abcd99yyyzzz85a5';
const SIGNING_KEY = createSecretKey(Buffer.from(SIGNING_SECRET));
export const BOT_TOKEN = 'xoxb-test-0123456789';
export const NOW_SEC = 1_760_000_000;

export function slack(options: Partial<SlackOptions> = {}): ReturnType<typeof createSlack> {
  return createSlack({
    signingSecret: SIGNING_SECRET,
    botToken: BOT_TOKEN,
    apiUrl: 'http://127.0.0.1:9/api',
    reply: 'stream',
    webhookWindowSec: 300,
    nowMs: () => NOW_SEC * 1_000,
    ...options,
  });
}

interface Signing {
  timestampSec?: number;
  contentType?: string;
}

/** A signed body as Slack sends it. */
export function deliver(body: object | string, { timestampSec = NOW_SEC, contentType }: Signing = {}): RawDelivery {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return {
    method: 'POST',
    query: new URLSearchParams(),
    headers: {
      'content-type': contentType ?? 'application/json',
      'x-slack-request-timestamp': String(timestampSec),
      'x-slack-signature': signDelivery(SIGNING_KEY, String(timestampSec), bytes),
    },
    body: bytes,
  };
}

/** An event in its envelope. */
export function envelope(event: object, extra: object = {}): object {
  return {
    type: 'event_callback',
    team_id: 'T1',
    api_app_id: 'A1',
    event_id: `Ev${Math.random()}`,
    event_time: NOW_SEC,
    authorizations: [{ team_id: 'T1', user_id: 'UBOT', is_bot: true }],
    event,
    ...extra,
  };
}

export function directMessage(text: string, extra: object = {}): object {
  return envelope({
    type: 'message',
    channel_type: 'im',
    channel: 'D1',
    user: 'U1',
    text,
    ts: '1760000001.000100',
    ...extra,
  });
}

export function mention(text: string, extra: object = {}): object {
  return envelope({
    type: 'app_mention',
    channel: 'C1',
    user: 'U1',
    text: `<@UBOT> ${text}`,
    ts: '1760000002.000100',
    ...extra,
  });
}

/** The id of an answer, as its feedback buttons contain it. */
export const ANSWER = 'a1'.repeat(20);

/** The payload that Slack sends for a press of a feedback button. */
export function pressOf(word: string): object {
  return {
    ...{ type: 'block_actions', user: { id: 'U1' }, team: { id: 'T1' }, channel: { id: 'D1' } },
    container: { type: 'message', message_ts: '1760000000.000001', channel_id: 'D1' },
    actions: [{ type: 'feedback_buttons', action_id: 'parley_feedback', value: `${word} en ${ANSWER}` }],
  };
}
