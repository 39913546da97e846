import { createHmac } from 'node:crypto';

export const SIGNING_SECRET = 'bench-signing-secret';

let made = 0;

/** Ids of people who have not asked yet. */
export const newPeople = (count) => Array.from({ length: count }, () => String((made += 1)).padStart(7, '0'));

/**
 * Signed direct messages as Slack sends them, each from another person in another channel; created before the measurement
 * starts. With `people`, one message of each of these.
 */
export function makeSlackEvents(count, people = newPeople(count)) {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  return people.map((id) => {
    made += 1;
    const message = String(made).padStart(7, '0');
    const user = `U${id}`;
    const channel = `D${id}`;
    const body = JSON.stringify({
      token: 'verification-token',
      team_id: 'T0000001',
      api_app_id: 'A0000001',
      event: {
        type: 'message',
        channel_type: 'im',
        channel,
        user,
        ts: `1760000000.${message}`,
        client_msg_id: '00000000-0000-4000-8000-000000000000',
        text: `What are the opening hours of the library? bench-${id}`,
        team: 'T0000001',
        event_ts: `1760000000.${message}`,
      },
      type: 'event_callback',
      event_id: `Ev${message}`,
      event_time: Number(timestamp),
      authorizations: [{ team_id: 'T0000001', user_id: 'U0BOT', is_bot: true, is_enterprise_install: false }],
      is_ext_shared_channel: false,
    });
    const digest = createHmac('sha256', SIGNING_SECRET).update(`v0:${timestamp}:${body}`).digest('hex');
    const headers = { 'x-slack-request-timestamp': timestamp, 'x-slack-signature': `v0=${digest}` };
    return { id, search: '', headers, body };
  });
}
