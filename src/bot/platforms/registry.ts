import type { PlatformName } from '../domain/platform-name.ts';
import type { PlatformDescription } from './description.ts';
import { slack } from './slack/description.ts';
import { wecom } from './wecom/description.ts';

/** The description of each platform, one line each (docs/extending/ADD_A_PLATFORM.md). */
const DESCRIPTIONS = {
  wecom,
  slack,
} as const satisfies { [Name in PlatformName]: PlatformDescription & { name: Name } };

type Described = (typeof DESCRIPTIONS)[PlatformName];

export const PLATFORMS: readonly Described[] = Object.values(DESCRIPTIONS);

type UnionToIntersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

/** The settings of all platforms. */
type PlatformSettings = UnionToIntersection<Described['settings']>;

/** The configuration of each platform, under its name. */
export type PlatformConfigs = {
  readonly [Each in Described as Each['name']]: ReturnType<Each['assemble']>;
};

/** The secrets of all platforms. */
export type PlatformSecrets = Readonly<Record<keyof UnionToIntersection<Described['secrets']>, string | undefined>>;

export function platformSettings(): PlatformSettings {
  return Object.assign({}, ...PLATFORMS.map(({ settings }) => settings)) as PlatformSettings;
}

export function describePlatform(name: PlatformName): PlatformDescription {
  return DESCRIPTIONS[name];
}
