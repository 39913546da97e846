import { z } from 'zod';
import type { Kind } from './setting-kinds.ts';

/** What people read about a setting, in `config/.env.example` and `docs/SETTINGS.md`. */
export interface SettingInfo {
  /** One sentence, with the unit where there is one. */
  meaning: string;
  /** The default as it would be typed, or in words where it depends on other settings. */
  default?: string;
  /** A value for the example file where there is no default that could be typed. */
  example?: string;
  /** Kept apart from the configuration, never printed, and accepted as `NAME_FILE` too. */
  isSecret?: boolean;
  /** Written with nothing behind it, it says that there is none; all other settings were forgotten then. */
  isNoneWhenEmpty?: boolean;
}

/** Holds each setting's information beside its schema. */
export const settingInfo = z.registry<SettingInfo>();

/** A setting with a fixed default, which is read like any other text. */
export function setting<T>(kind: Kind<T>, fallback: string, meaning: string): z.ZodPrefault<Kind<T>> {
  return kind.prefault(fallback).register(settingInfo, { meaning, default: fallback });
}

/** A setting that may be absent; `default` says in words what holds then. */
export function optional<T>(kind: Kind<T>, info: SettingInfo): z.ZodOptional<Kind<T>> {
  return kind.optional().register(settingInfo, info);
}

/** A secret that may be absent. */
export function secret<T>(kind: Kind<T>, info: Omit<SettingInfo, 'isSecret'>): z.ZodOptional<Kind<T>> {
  return optional(kind, { ...info, isSecret: true });
}
