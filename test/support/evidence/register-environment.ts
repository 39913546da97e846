import { registerSecret } from './evidence.ts';

/** Registers the secrets among a process's settings, by their names. */
export function registerEnvironment(env: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(env)) {
    if (name.endsWith('_FILE')) continue;
    if (name.endsWith('SECRET')) registerSecret('client secret', value);
    else if (/(KEY|KEYS|KEY_PREVIOUS|TOKEN)$/.test(name))
      for (const part of value.split(',')) registerSecret('key', part);
  }
}
