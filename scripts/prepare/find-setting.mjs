import { existsSync, readFileSync } from 'node:fs';

/**
 * Whether a setting is given in the environment or the settings file. Only for choosing what to install: the settings
 * proper are read by src/bot/config once packages are there.
 */
export function findSettingByName(name) {
  if (process.env[name] || process.env[`${name}_FILE`]) return true;
  const file = process.env.ENV_FILE || 'config/.env';
  if (!existsSync(file)) return false;
  return new RegExp(`^\\s*(?:export\\s+)?${name}(?:_FILE)?\\s*=\\s*\\S`, 'm').test(readFileSync(file, 'utf8'));
}
