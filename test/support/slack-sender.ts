import { createHmac } from 'node:crypto';

export interface SlackSender {
  /** Sends an event like Slack. @returns the HTTP status */
  event(event: object, extra?: object): Promise<number>;
  /** Sends a person's message in their direct-message channel. @returns its `ts` */
  direct(userId: string, text: string, extra?: object): Promise<string>;
  /** Sends the app's own command from a channel. @returns the HTTP status and the text that Slack would show at once */
  command(place: { channel: string; userId: string; responseUrl?: string }, text: string): Promise<[number, string]>;
  /**
   * Presses a button of a message, or of an ephemeral one. @returns the HTTP status and the text that Slack would show at
   * once
   */
  press(at: PressedAt, button: { action_id: string; value: string }): Promise<[number, string]>;
  /** Mentions the bot in a channel, as the two events by which a mention arrives. @returns its `ts` */
  mention(place: { channel: string; userId: string; threadTs?: string }, text: string): Promise<string>;
}

/** The message of the pressed button, and the person who pressed it. */
export interface PressedAt {
  channel: string;
  ts: string;
  threadTs?: string;
  userId: string;
  responseUrl?: string;
  team?: string;
}

let sent = 0;

/** The event payload of Slack, identical for webhook and socket. */
export function eventCallback(event: object, nowMs: number, extra: object = {}): object {
  sent += 1;
  return {
    type: 'event_callback',
    team_id: 'T1',
    api_app_id: 'A1',
    event_id: `Ev${process.pid}${sent}`,
    event_time: Math.floor(nowMs / 1_000),
    authorizations: [{ team_id: 'T1', user_id: 'UBOT', is_bot: true }],
    event,
    ...extra,
  };
}

/** Slack's side of the Events API: signs its requests, implemented separately from the verification. */
export function createSlackSender(
  url: string,
  signingSecret: string,
  nowMs: () => number = Date.now,
  moreHeaders: Record<string, string> = {},
): SlackSender {
  const send = (body: string, contentType: string) => {
    const timestamp = String(Math.floor(nowMs() / 1_000));
    const digest = createHmac('sha256', signingSecret).update(`v0:${timestamp}:${body}`).digest('hex');
    return fetch(url, {
      method: 'POST',
      body,
      headers: {
        'content-type': contentType,
        'x-slack-request-timestamp': timestamp,
        'x-slack-signature': `v0=${digest}`,
        ...moreHeaders,
      },
    });
  };
  const sender: SlackSender = {
    async event(event, extra = {}) {
      return (await send(JSON.stringify(eventCallback(event, nowMs(), extra)), 'application/json')).status;
    },
    async command({ channel, userId, responseUrl }, text) {
      sent += 1;
      const body = new URLSearchParams({
        command: '/parley',
        text,
        team_id: 'T1',
        api_app_id: 'A1',
        channel_id: channel,
        user_id: userId,
        trigger_id: `${process.pid}.${sent}`,
        ...(responseUrl === undefined ? {} : { response_url: responseUrl }),
      }).toString();
      const answer = await send(body, 'application/x-www-form-urlencoded');
      return [answer.status, await answer.text()];
    },
    async press({ channel, ts, threadTs, userId, responseUrl, team = 'T1' }, button) {
      sent += 1;
      const thread = threadTs === undefined ? {} : { thread_ts: threadTs };
      const payload = JSON.stringify({
        ...{ type: 'block_actions', api_app_id: 'A1', trigger_id: `${process.pid}.${sent}` },
        ...{ user: { id: userId, team_id: team }, team: { id: team }, channel: { id: channel } },
        container: { type: 'message', message_ts: ts, channel_id: channel, ...thread },
        message: { ts, ...thread },
        actions: [{ type: 'button', block_id: 'b', action_ts: nextTs(), ...button }],
        response_url: responseUrl,
      });
      const answer = await send(new URLSearchParams({ payload }).toString(), 'application/x-www-form-urlencoded');
      return [answer.status, await answer.text()];
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
