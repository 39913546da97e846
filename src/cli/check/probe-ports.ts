import { moveInWords, takeFreePorts, type SoundSettings } from '../../bot/app/take-free-ports.ts';
import type { LoadedSettings } from '../../bot/config/load-settings.ts';

/**
 * The settings for the sign-in probe, with free ports as a start takes them; but an institution's service knows the bot by one
 * redirect address, which then stays.
 * @param read reads the settings again with these values before all others
 * @returns them, and a sentence for each port of the probe that gave way
 */
export async function takeProbePorts(
  given: SoundSettings,
  read: (ports: Readonly<Record<string, string>>) => LoadedSettings,
): Promise<{ settings: SoundSettings; told: string[] }> {
  if (!given.config.embedded.signIn) return { settings: given, told: [] };
  const { settings, moved } = await takeFreePorts(given, read);
  return { settings, told: moved.filter(({ setting }) => setting !== 'MESSENGER_PORT').map(moveInWords) };
}
