import type { PlatformDescription } from './description.ts';
import { slack } from './slack/description.ts';
import { wecom } from './wecom/description.ts';

/** All platforms, one line each (docs/ADD_A_PLATFORM.md). */
export const PLATFORMS = [
  wecom, //
  slack,
] as const;

type Described = (typeof PLATFORMS)[number];

export type PlatformName = Described['name'];

type Whole<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** The settings of all platforms. */
type PlatformSettings = Whole<Described['settings']>;

/** The configuration of each platform, under its name. */
export type PlatformConfigs = {
  readonly [Each in Described as Each['name']]: ReturnType<Each['assemble']>;
};

/** The secrets of all platforms. */
export type PlatformSecrets = Readonly<Record<keyof Whole<Described['secrets']>, string | undefined>>;

export function platformSettings(): PlatformSettings {
  return Object.assign({}, ...PLATFORMS.map(({ settings }) => settings)) as PlatformSettings;
}

export function describePlatform(name: PlatformName): PlatformDescription {
  return PLATFORMS.find((platform) => platform.name === name) as PlatformDescription;
}
