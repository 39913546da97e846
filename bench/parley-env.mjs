import { randomBytes } from 'node:crypto';
import { SIGNING_SECRET } from './slack-events.mjs';

/**
 * The bots that are measured: this one and, where `BENCH_BEFORE` names the folder of an older build of Parley, that one
 * beside it, so that what a change costs is read from one run.
 */
export const BUILDS = [
  { suffix: '', dist: 'dist' },
  ...(process.env.BENCH_BEFORE ? [{ suffix: ', before', dist: `${process.env.BENCH_BEFORE}/dist` }] : []),
];

/** How a build is started, with more for Node where `BENCH_NODE_ARGS` tells it. */
export function parleyArgs({ dist }) {
  return [...(process.env.BENCH_NODE_ARGS?.split(' ') ?? []), `${dist}/main.js`];
}

const secretKey = randomBytes(32).toString('base64');

/** The settings of a measured Parley, all guarantees on. `platform` holds the platform's own. */
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

/** Slack by one post and edits every half second, as the floors do it. */
export function slackEnv(apiUrl) {
  return {
    SLACK_SIGNING_SECRET: SIGNING_SECRET,
    SLACK_BOT_TOKEN: 'xoxb-bench-0123456789',
    SLACK_API_URL: apiUrl,
    SLACK_REPLY: 'edit',
    REPLY_MIN_EDIT_MS: '500',
  };
}
