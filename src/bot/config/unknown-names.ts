import { editDistance, nearestOf } from '../../shared/text/did-you-mean.ts';
import { PLATFORMS } from '../platforms/registry.ts';
import { UNSUPPORTED_PLATFORMS } from './unsupported-platforms.ts';
import { type Environment, SECRET_NAMES } from './read-values.ts';
import { SETTING_NAMES } from './schema.ts';

const PREFIXES = [
  'PARLEY_',
  ...PLATFORMS.flatMap((platform) => ('prefix' in platform ? [platform.prefix] : [])),
  'CHAT_',
  'SIGN_IN_',
  'SERVICE_',
  'MESSENGER_',
  'REDIS_',
  'QUEUE_',
  'SECRET_KEY',
  'PUBLIC_URL',
];
const MORE_PREFIXES = [
  'WEBHOOK_',
  'WORKER_',
  'TURN_',
  'REPLY_',
  'HISTORY_',
  'SHUTDOWN_',
  'TRUSTED_PROXY_',
  'GROUP_SCOPE',
  'THREAD_',
  'THINKING_',
  'ADMIN_IDS',
];

/** Variables that Kubernetes sets in every container next to a service called `redis` or `chat`. */
const FROM_KUBERNETES = /_(SERVICE_(HOST$|PORT)|PORT($|_\d+_(TCP|UDP)))/;

const KNOWN = new Set<string>([...SETTING_NAMES, ...SECRET_NAMES.map((name) => `${name}_FILE`), 'ENV_FILE']);

/** Maximum edit distance of a suggested name. */
const MAX_EDITS = 4;

/**
 * Warns of names that look like Parley's but are unknown, each with the nearest known name. Checks every name in the
 * settings file. In the process environment it checks names with Parley's prefixes, or one edit away from a setting.
 */
export function warnOfUnknownNames(env: Environment, file: Environment): string[] {
  const inEnv = Object.keys(env).filter(
    (name) => (env[name] ?? '') !== '' && !FROM_KUBERNETES.test(name) && looksLikeOurs(name),
  );
  const names = new Set([...inEnv, ...Object.keys(file)].filter((name) => !KNOWN.has(name)));
  const platforms = Object.entries(UNSUPPORTED_PLATFORMS).filter(([prefix]) =>
    [...names].some((name) => name.startsWith(prefix)),
  );
  const others = [...names].filter(
    (name) => !Object.keys(UNSUPPORTED_PLATFORMS).some((prefix) => name.startsWith(prefix)),
  );
  return [
    ...platforms.map(
      ([prefix, platform]) => `${prefix}… is set but ignored: this version does not support ${platform}`,
    ),
    ...others.map(describe),
  ];
}

/** The known name with the smallest edit distance, if it is close enough. */
export function nearestName(name: string): string | undefined {
  return nearestOf(name.toUpperCase(), [...KNOWN], MAX_EDITS);
}

function looksLikeOurs(name: string): boolean {
  if ([...PREFIXES, ...MORE_PREFIXES, ...Object.keys(UNSUPPORTED_PLATFORMS)].some((prefix) => name.startsWith(prefix)))
    return true;
  return (
    name.length > 6 &&
    [...KNOWN].some((known) => Math.abs(known.length - name.length) <= 1 && editDistance(name, known) === 1)
  );
}

function describe(name: string): string {
  const nearest = nearestName(name);
  return `${name} is not a setting of Parley${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
}
