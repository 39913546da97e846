import { z } from 'zod';
import { PLATFORMS, platformSettings } from '../platforms/registry.ts';
import { chatSettings, signInSettings } from './schema/bot-settings.ts';
import { localSettings, processSettings, storeSettings } from './schema/process-settings.ts';
import { serviceSettings } from './schema/service-settings.ts';

/** The groups in which people read the settings, in this order. */
export const SETTING_GROUPS = [
  { title: 'Process', settings: processSettings },
  { title: 'Redis and what is kept', settings: storeSettings },
  { title: 'Chat', settings: chatSettings },
  { title: 'Sign-in', settings: signInSettings },
  ...PLATFORMS.map(({ label, settings }) => ({ title: label.en, settings })),
  { title: 'Local mode', settings: localSettings },
  { title: 'Reference service', settings: serviceSettings },
] as const;

/**
 * Every setting that there is. The only source: start, `npm run check`, `config/.env.example` and `docs/SETTINGS.md` are
 * all made from it. Each part reads one text; what holds between several settings is in `cross-checks.ts`.
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

/** The names of all settings. */
export const SETTING_NAMES = Object.keys(settingsSchema.shape) as SettingName[];
