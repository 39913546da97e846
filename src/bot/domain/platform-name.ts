/**
 * The messaging apps that Parley speaks to. The names are part of stored messages, keys, addresses and counters, so they never
 * change. The registry of the platforms is checked against this list (docs/ADD_A_PLATFORM.md).
 */
export const PLATFORM_NAMES = [
  'wecom', //
  'slack',
] as const;

export type PlatformName = (typeof PLATFORM_NAMES)[number];
