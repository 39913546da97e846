import { z } from 'zod';
import type { Kind } from './setting-kinds.ts';

/**
 * How many deployments need a setting: `first` (most of them, listed first), `common` (many), `advanced` (few). Sorts the
 * documentation.
 */
export type SettingLevel = 'first' | 'common' | 'advanced';

/** Description of a setting for `config/.env.example` and `docs/SETTINGS.md`. */
export interface SettingInfo {
  /** One or two sentences, with the unit if there is one. */
  meaning: string;
  /** The default as typed, or in words if it depends on other settings. */
  default?: string;
  /** A value for the example file if the default cannot be typed. */
  example?: string;
  /** Defaults to `advanced`. */
  level?: SettingLevel;
  /** Kept apart from the configuration, never printed, and also accepted as `NAME_FILE`. */
  isSecret?: boolean;
  /** An empty value means none. For all other settings an empty value is a fault. */
  isNoneWhenEmpty?: boolean;
}

/** Registry of the settings' descriptions. */
export const settingInfo = z.registry<SettingInfo>();

/** A setting with a fixed default, which is parsed like any other value. */
export function setting<T>(
  kind: Kind<T>,
  fallback: string,
  meaning: string,
  level?: SettingLevel,
): z.ZodPrefault<Kind<T>> {
  return kind.prefault(fallback).register(settingInfo, { meaning, default: fallback, level });
}

/** An optional setting; `default` describes what applies without it. */
export function optional<T>(kind: Kind<T>, info: SettingInfo): z.ZodOptional<Kind<T>> {
  return kind.optional().register(settingInfo, info);
}

/** An optional secret. */
export function secret<T>(kind: Kind<T>, info: Omit<SettingInfo, 'isSecret'>): z.ZodOptional<Kind<T>> {
  return optional(kind, { ...info, isSecret: true });
}
