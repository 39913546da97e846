import type { PlatformDescription } from '../platforms/description.ts';
import { describePlatform, PLATFORMS } from '../platforms/registry.ts';
import type { SettingName, Settings } from './schema.ts';

export type Role = 'receiver' | 'worker' | 'service' | 'messenger';

/** `local` for trying Parley on one machine, `serving` for real people. */
export type Mode = 'local' | 'serving';

const SERVING_ROLES: readonly Role[] = ['receiver', 'worker'];
const LOCAL_ROLES: readonly Role[] = ['receiver', 'worker', 'service', 'messenger'];

/** What each platform that we serve receives its messages with, by its webhook or over a connection; it is on when these are set. */
export const BOT_CREDENTIALS = PLATFORMS.flatMap((platform) => [
  platform.credentials,
  ...('connection' in platform ? [platform.connection.credentials] : []),
]);

/** Whether a platform delivers over a connection that we open. */
export function isConnected({ connection }: PlatformDescription, settings: Settings): boolean {
  return connection !== undefined && settings[connection.setting as SettingName] === connection.value;
}

/** What a platform needs to be on, by the way that was chosen. */
export function credentialsOf(platform: PlatformDescription, settings: Settings): PlatformDescription['credentials'] {
  return platform.connection && isConnected(platform, settings)
    ? platform.connection.credentials
    : platform.credentials;
}

/** What the web sign-in of each needs that has one. */
export const WEB_SIGN_IN_CREDENTIALS = PLATFORMS.flatMap((platform) =>
  'webSignIn' in platform ? [platform.webSignIn] : [],
);

/** What the institution's OpenID Connect provider is reached with; a group too. */
export const SERVICE_OIDC_CREDENTIALS = [
  'SERVICE_OIDC_ISSUER',
  'SERVICE_OIDC_CLIENT_ID',
  'SERVICE_OIDC_CLIENT_SECRET',
] as const;

/** Which settings stand in the environment or the file, be their values right or wrong. */
export type Given = ReadonlySet<SettingName>;

/** Local mode is: no platform's credentials set and ROLES unset, so that no real colleague meets the built-in model by mistake. */
export function modeOf(given: Given, hasOtherPlatform = false): Mode {
  const isServing = [...BOT_CREDENTIALS.flat(), ...WEB_SIGN_IN_CREDENTIALS.flat(), 'ROLES' as const].some((name) =>
    given.has(name),
  );
  return isServing || hasOtherPlatform ? 'serving' : 'local';
}

export function rolesOf(mode: Mode, named: readonly Role[] | undefined): readonly Role[] {
  return named ?? (mode === 'local' ? LOCAL_ROLES : SERVING_ROLES);
}

/** The platform that local mode's messenger plays. */
export function playedIn(mode: Mode, settings: Pick<Settings, 'MESSENGER_PROTOCOL'>): PlatformDescription | undefined {
  return mode === 'local' ? describePlatform(settings.MESSENGER_PROTOCOL) : undefined;
}

/** The reference service on its own: it serves no chat platform and needs nobody else's address. */
export function isServiceAlone(roles: readonly Role[]): boolean {
  return roles.length === 1 && roles[0] === 'service';
}
