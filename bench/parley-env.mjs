import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SIGNING_SECRET } from './slack-events.mjs';

/**
 * The measured bots: this one; if `BENCH_BEFORE` names the directory of an older build of Parley, also that one; and if
 * `BENCH_WITH` contains settings as JSON, also this one with them. So one run shows the cost of a change or of a setting.
 */
export const BUILDS = [
  { suffix: '', folder: '.' },
  ...(process.env.BENCH_BEFORE ? [{ suffix: ', before', folder: process.env.BENCH_BEFORE }] : []),
  ...(process.env.BENCH_WITH ? [{ suffix: ', with', folder: '.', settings: JSON.parse(process.env.BENCH_WITH) }] : []),
];

/** Command that starts a build, with the flags of its `npm start` and further ones from `BENCH_NODE_ARGS`. */
export function parleyArgs({ folder }) {
  const { start } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).scripts;
  const flags = start.split(' ').filter((part) => part.startsWith('--'));
  return [...flags, ...(process.env.BENCH_NODE_ARGS?.split(' ') ?? []), join(folder, 'dist/main.js')];
}

const secretKey = randomBytes(32).toString('base64');

/** Settings of a measured Parley, with all guarantees enabled. `platform` contains the platform's own settings. */
export function parleyEnv({ redisUrl, chatUrl, port, roles, platform }) {
  return {
    ROLES: roles,
    PORT: String(port),
    HOST: '127.0.0.1',
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    REDIS_URL: redisUrl,
    SECRET_KEY: secretKey,
    CHAT_BASE_URL: chatUrl,
    CHAT_API_KEY: 'sk-bench-0123456789',
    SIGN_IN: 'off',
    LOG_LEVEL: 'warn',
    LOG_FORMAT: 'json',
    ...platform,
  };
}

/** Slack with one post and edits every half second, like the floors. */
export function slackEnv(apiUrl) {
  return {
    SLACK_SIGNING_SECRET: SIGNING_SECRET,
    SLACK_BOT_TOKEN: 'xoxb-bench-0123456789',
    SLACK_API_URL: apiUrl,
    SLACK_REPLY: 'edit',
    REPLY_MIN_EDIT_MS: '500',
  };
}
