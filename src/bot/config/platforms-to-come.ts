import { PLATFORMS } from '../platforms/registry.ts';
import { fault, type Fault } from './fault.ts';
import { BOT_CREDENTIALS, type Given } from './mode.ts';
import type { Environment } from './read-values.ts';

/** Platforms that a later version serves, by the prefix of their settings. */
export const PLATFORMS_TO_COME: Readonly<Record<string, string>> = {
  FEISHU_: 'Feishu',
  DINGTALK_: 'DingTalk',
  TEAMS_: 'Microsoft Teams',
  MATTERMOST_: 'Mattermost',
};

/** The names that end local mode on the platforms that contract section 3 lists; also as NAME_FILE. */
const CREDENTIALS = /^(FEISHU_(APP_ID|APP_SECRET|VERIFICATION_TOKEN|ENCRYPT_KEY)|DINGTALK_CLIENT_(ID|SECRET))(_FILE)?$/;

const SERVED = new Intl.ListFormat('en-GB').format(PLATFORMS.map(({ label }) => label.en));

/** Credentials of platforms that this version does not serve, each once, sorted. */
export function credentialsToCome(env: Environment, file: Environment): string[] {
  const names = new Set([...Object.keys(env), ...Object.keys(file)]);
  const isSet = (name: string) => (env[name] ?? file[name] ?? '').trim() !== '';
  return [...names].filter((name) => CREDENTIALS.test(name) && isSet(name)).sort();
}

/**
 * Who sets up another platform for real people must not end in local mode, where they would meet the built-in model
 * (contract section 2). Beside a platform that is served the other is only a warning.
 */
export function faultsOfPlatformsToCome(names: readonly string[], given: Given): Fault[] {
  if (BOT_CREDENTIALS.flat().some((name) => given.has(name))) return [];
  return names.map((name) =>
    fault(name, `is set, but this version serves ${SERVED} only: unset it, or set the credentials of one of those`),
  );
}
