import { createHmac } from 'node:crypto';

export interface SlackSender {
  /** Sends an event as Slack does. @returns the HTTP status */
  event(event: object, extra?: object): Promise<number>;
  /** A person's message in their direct-message channel. @returns its `ts` */
  direct(userId: string, text: string, extra?: object): Promise<string>;
  /** A mention of the bot in a channel, as the two events by which it arrives. @returns its `ts` */
  mention(place: { channel: string; userId: string; threadTs?: string }, text: string): Promise<string>;
}

let sent = 0;

/** Slack's side of the Events API: signs what it sends. Written apart from what verifies it. */
export function createSlackSender(
  url: string,
  signingSecret: string,
  nowMs: () => number = Date.now,
  moreHeaders: Record<string, string> = {},
): SlackSender {
  const sender: SlackSender = {
    async event(event, extra = {}) {
      sent += 1;
      const body = JSON.stringify({
        type: 'event_callback',
        team_id: 'T1',
        api_app_id: 'A1',
        event_id: `Ev${process.pid}${sent}`,
        event_time: Math.floor(nowMs() / 1_000),
        authorizations: [{ team_id: 'T1', user_id: 'UBOT', is_bot: true }],
        event,
        ...extra,
      });
      const timestamp = String(Math.floor(nowMs() / 1_000));
      const digest = createHmac('sha256', signingSecret).update(`v0:${timestamp}:${body}`).digest('hex');
      const answer = await fetch(url, {
        method: 'POST',
        body,
        headers: {
          'content-type': 'application/json',
          'x-slack-request-timestamp': timestamp,
          'x-slack-signature': `v0=${digest}`,
          ...moreHeaders,
        },
      });
      return answer.status;
    },
    async direct(userId, text, extra = {}) {
      const ts = nextTs();
      await sender.event({
        type: 'message',
        channel_type: 'im',
        channel: `D${userId}`,
        user: userId,
        text,
        ts,
        ...extra,
      });
      return ts;
    },
    async mention({ channel, userId, threadTs }, text) {
      const ts = nextTs();
      const said = { channel, user: userId, text: `<@UBOT> ${text}`, ts, ...(threadTs ? { thread_ts: threadTs } : {}) };
      await Promise.all([
        sender.event({ type: 'app_mention', ...said }),
        sender.event({ type: 'message', channel_type: 'channel', ...said }),
      ]);
      return ts;
    },
  };
  return sender;
}

function nextTs(): string {
  sent += 1;
  return `1760000000.${String(sent).padStart(6, '0')}`;
}
