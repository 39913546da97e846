import { createServer } from 'node:net';
import { holderOfPort } from '../../shared/http/port-holder.ts';
import type { LoadedSettings } from '../config/load-settings.ts';
import { usedPorts, type PortSetting } from './used-ports.ts';

/** Settings without a fault. */
export type SoundSettings = Extract<LoadedSettings, { ok: true }>;

/** A port that local mode takes in place of one that is taken. */
export interface MovedPort {
  setting: PortSetting;
  from: number;
  to: number;
  /** Who listens there, where the system tells. */
  holder: string | undefined;
}

const LAST_PORT = 65_535;

/**
 * Local mode goes on beside whatever else runs on this machine: where a port is taken, the next free one. The settings are
 * read once more with it, so that each address that depends on a port follows. Where `PUBLIC_URL` was set, the bot's port
 * stays, since the address would lead elsewhere.
 * @param read reads the settings again with these values before all others
 */
export async function takeFreePorts(
  settings: SoundSettings,
  read: (ports: Readonly<Record<string, string>>) => LoadedSettings,
): Promise<{ settings: SoundSettings; moved: MovedPort[] }> {
  const stays = { settings, moved: [] };
  if (settings.config.mode !== 'local') return stays;
  const moved = await movesOf(settings);
  if (moved.length === 0) return stays;
  const follow = (moves: readonly MovedPort[]) =>
    read(Object.fromEntries(moves.map(({ setting, to }) => [setting, String(to)])));
  const followed = follow(moved);
  if (!followed.ok) return stays;
  const isLeft = followed.config.http.publicUrl === settings.config.http.publicUrl;
  if (!isLeft || followed.config.http.port === settings.config.http.port) return { settings: followed, moved };
  const others = moved.filter(({ setting }) => setting !== 'PORT');
  const withOthers = follow(others);
  return withOthers.ok ? { settings: withOthers, moved: others } : stays;
}

async function movesOf({ config }: SoundSettings): Promise<MovedPort[]> {
  const used = usedPorts(config);
  const promised = new Set(used.map(({ port }) => port));
  const moved: MovedPort[] = [];
  for (const { setting, port, host } of used) {
    if (await isFree(port, host)) continue;
    let to = port + 1;
    while (to <= LAST_PORT && (promised.has(to) || !(await isFree(to, host)))) to += 1;
    if (to > LAST_PORT) continue;
    promised.add(to);
    moved.push({ setting, from: port, to, holder: holderOfPort(port) });
  }
  return moved;
}

/** False only where somebody listens: what else is wrong with a port or host, listening there will tell. */
async function isFree(port: number, host: string): Promise<boolean> {
  return (await tryToListen(port, host))?.code !== 'EADDRINUSE';
}

/** Why nobody can listen there just now; undefined where it could be done, and nobody listens any more. */
export function tryToListen(port: number, host: string): Promise<NodeJS.ErrnoException | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', resolve);
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}

/** One sentence for the person who started it. */
export function moveInWords({ setting, from, to, holder }: MovedPort): string {
  return `${setting} ${from} is taken by ${holder ?? 'another program'}, so ${to} is used.`;
}
