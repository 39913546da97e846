import { z } from 'zod';
import { PLATFORMS, platformSettings } from '../platforms/registry.ts';
import { chatSettings, signInSettings } from './schema/bot-settings.ts';
import { localSettings, processSettings, storeSettings } from './schema/process-settings.ts';
import { serviceSettings } from './schema/service-settings.ts';

/** Groups of settings, in the order of the documentation. */
export const SETTING_GROUPS = [
  { title: 'Process', settings: processSettings },
  { title: 'Redis and retention', settings: storeSettings },
  { title: 'Chat', settings: chatSettings },
  { title: 'Sign-in', settings: signInSettings },
  ...PLATFORMS.map(({ label, settings }) => ({ title: label.en, settings })),
  { title: 'Local mode', settings: localSettings },
  { title: 'Reference service', settings: serviceSettings },
] as const;

/**
 * All settings. The single source for startup, `npm run check`, `config/.env.example` and `docs/SETTINGS.md`. Each entry
 * parses one value; rules between several settings are in `cross-checks.ts`.
 */
export const settingsSchema = z.object({
  ...processSettings,
  ...storeSettings,
  ...chatSettings,
  ...signInSettings,
  ...platformSettings(),
  ...localSettings,
  ...serviceSettings,
});

export type Settings = z.output<typeof settingsSchema>;
export type SettingName = keyof Settings;

/** Names of all settings. */
export const SETTING_NAMES = Object.keys(settingsSchema.shape) as SettingName[];
