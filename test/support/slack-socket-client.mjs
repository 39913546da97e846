// Slack's own Socket Mode client as a process that prints each event as a line of JSON. Jest cannot load it. node
// slack-socket-client.mjs API_URL APP_TOKEN takes|takes-second
import { LogLevel, SocketModeClient } from '@slack/socket-mode';

const [, , slackApiUrl, appToken, behaviour] = process.argv;
const client = new SocketModeClient({ appToken, logLevel: LogLevel.ERROR, clientOptions: { slackApiUrl } });
client.on('slack_event', ({ type, body, ack, retry_num: retries = 0 }) => {
  console.log(JSON.stringify({ type, body, retries }));
  if (behaviour === 'takes' || retries > 0) ack();
});
client.on('connected', () => console.log(JSON.stringify({ type: 'connected' })));
await client.start();
