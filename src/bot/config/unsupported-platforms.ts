import { PLATFORMS } from '../platforms/registry.ts';
import { fault, type Fault } from './fault.ts';
import { BOT_CREDENTIALS, type Given } from './mode.ts';
import type { Environment } from './read-values.ts';

/** Platforms of a later version, by the prefix of their settings. */
export const UNSUPPORTED_PLATFORMS: Readonly<Record<string, string>> = {
  FEISHU_: 'Feishu',
  DINGTALK_: 'DingTalk',
  TEAMS_: 'Microsoft Teams',
  MATTERMOST_: 'Mattermost',
};

/** Credentials of these platforms, which end local mode. Also matched as NAME_FILE. */
const CREDENTIALS = /^(FEISHU_(APP_ID|APP_SECRET|VERIFICATION_TOKEN|ENCRYPT_KEY)|DINGTALK_CLIENT_(ID|SECRET))(_FILE)?$/;

const SERVED = new Intl.ListFormat('en-GB').format(PLATFORMS.map(({ label }) => label.en));

/** Names of the credentials set for platforms that this version does not serve, unique and sorted. */
export function unsupportedCredentials(env: Environment, file: Environment): string[] {
  const names = new Set([...Object.keys(env), ...Object.keys(file)]);
  const isSet = (name: string) => (env[name] ?? file[name] ?? '').trim() !== '';
  return [...names].filter((name) => CREDENTIALS.test(name) && isSet(name)).sort();
}

/**
 * Credentials of an unsupported platform must not lead to local mode, where real people would reach the built-in model. With
 * a supported platform configured too, they only cause a warning.
 */
export function faultsOfUnsupportedPlatforms(names: readonly string[], given: Given): Fault[] {
  if (BOT_CREDENTIALS.flat().some((name) => given.has(name))) return [];
  return names.map((name) =>
    fault(name, `is set, but this version supports only ${SERVED}: unset it, or set the credentials of one of those`),
  );
}
