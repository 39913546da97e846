import { describeMovedPort, takeFreePorts, type SoundSettings } from '../../bot/app/take-free-ports.ts';
import type { LoadedSettings } from '../../bot/config/load-settings.ts';

/**
 * Moves the sign-in probe to free ports, as a start does. With an institution's service the ports stay, because the redirect
 * address is registered there.
 * @param read reloads the settings with these values taking precedence
 * @returns the settings, and one sentence for each moved port
 */
export async function takeProbePorts(
  given: SoundSettings,
  read: (ports: Readonly<Record<string, string>>) => LoadedSettings,
): Promise<{ settings: SoundSettings; told: string[] }> {
  if (!given.config.embedded.signIn) return { settings: given, told: [] };
  const { settings, moved } = await takeFreePorts(given, read);
  return { settings, told: moved.filter(({ setting }) => setting !== 'MESSENGER_PORT').map(describeMovedPort) };
}
