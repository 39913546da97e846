/**
 * The messaging apps that Parley supports. The names are part of stored messages, keys, addresses and metrics, so they never
 * change. The platform registry is checked against this list (docs/extending/ADD_A_PLATFORM.md).
 */
export const PLATFORM_NAMES = [
  'wecom', //
  'slack',
] as const;

export type PlatformName = (typeof PLATFORM_NAMES)[number];
