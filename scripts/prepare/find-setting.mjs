import { existsSync, readFileSync } from 'node:fs';

/**
 * Whether a setting is present in the environment or the settings file. Only for deciding what to install: the settings
 * themselves are parsed by src/bot/config once the packages are installed.
 */
export function findSettingByName(name) {
  if (process.env[name] || process.env[`${name}_FILE`]) return true;
  const file = process.env.ENV_FILE || 'config/.env';
  if (!existsSync(file)) return false;
  return new RegExp(`^\\s*(?:export\\s+)?${name}(?:_FILE)?\\s*=\\s*\\S`, 'm').test(readFileSync(file, 'utf8'));
}
