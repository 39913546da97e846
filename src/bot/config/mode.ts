import type { PlatformDescription } from '../platforms/description.ts';
import { describePlatform, PLATFORMS } from '../platforms/registry.ts';
import type { SettingName, Settings } from './schema.ts';

export type Role = 'receiver' | 'worker' | 'service' | 'messenger';

/** `local` for trying Parley on one machine, `serving` for real people. */
export type Mode = 'local' | 'serving';

const SERVING_ROLES: readonly Role[] = ['receiver', 'worker'];
const LOCAL_ROLES: readonly Role[] = ['receiver', 'worker', 'service', 'messenger'];

/**
 * Settings with which each platform receives messages, by webhook or over a connection. The platform is on when they are
 * set.
 */
export const BOT_CREDENTIALS = PLATFORMS.flatMap((platform) => [
  platform.credentials,
  ...('connection' in platform ? [platform.connection.credentials] : []),
]);

/** Whether the platform delivers over a connection that Parley opens. */
export function isConnected({ connection }: PlatformDescription, settings: Settings): boolean {
  return connection !== undefined && settings[connection.setting as SettingName] === connection.value;
}

/** Settings that turn the platform on, for the selected way of delivery. */
export function credentialsOf(platform: PlatformDescription, settings: Settings): PlatformDescription['credentials'] {
  return platform.connection && isConnected(platform, settings)
    ? platform.connection.credentials
    : platform.credentials;
}

/** Settings of each platform's web sign-in. */
export const WEB_SIGN_IN_CREDENTIALS = PLATFORMS.flatMap((platform) =>
  'webSignIn' in platform ? [platform.webSignIn] : [],
);

/** Settings of the institution's OpenID Connect provider: all or none must be set. */
export const SERVICE_OIDC_CREDENTIALS = [
  'SERVICE_OIDC_ISSUER',
  'SERVICE_OIDC_CLIENT_ID',
  'SERVICE_OIDC_CLIENT_SECRET',
] as const;

/** Settings that are present in the environment or the file, whether valid or not. */
export type Given = ReadonlySet<SettingName>;

/**
 * Local mode applies while no platform's credentials and no ROLES are set, so that real people never reach the built-in
 * model by mistake.
 */
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
export function simulatedPlatform(
  mode: Mode,
  settings: Pick<Settings, 'MESSENGER_PROTOCOL'>,
): PlatformDescription | undefined {
  return mode === 'local' ? describePlatform(settings.MESSENGER_PROTOCOL) : undefined;
}

/** Models of the embedded service. */
export const EMBEDDED_MODELS: readonly string[] = ['svc-plus', 'svc-max'];

/** Whether people choose among the models that the chat service lists. */
export function isListed({ given, roles }: { given: Given; roles: readonly Role[] }): boolean {
  return given.has('CHAT_BASE_URL') && !given.has('CHAT_MODELS') && !isServiceAlone(roles);
}

/** Whether only the reference service runs: it serves no chat platform and needs no other address. */
export function isServiceAlone(roles: readonly Role[]): boolean {
  return roles.length === 1 && roles[0] === 'service';
}
