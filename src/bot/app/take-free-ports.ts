import { createServer } from 'node:net';
import { holderOfPort } from '../../shared/http/port-holder.ts';
import type { LoadedSettings } from '../config/load-settings.ts';
import { usedPorts, type PortSetting } from './used-ports.ts';

/** Valid settings. */
export type SoundSettings = Extract<LoadedSettings, { ok: true }>;

/** A port that local mode uses instead of an occupied one. */
export interface MovedPort {
  setting: PortSetting;
  from: number;
  to: number;
  /** The program that listens there, if the system reveals it. */
  holder: string | undefined;
}

const LAST_PORT = 65_535;

/**
 * Lets local mode run next to other programs: an occupied port is replaced by the next free one. The settings are read again
 * with it, so that all addresses that depend on a port follow. If `PUBLIC_URL` is set, the bot's port stays, because the
 * address would lead elsewhere.
 * @param read reads the settings again with these values taking precedence
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

/** False only if a program listens there. Other faults of a port or host show up when the part listens. */
async function isFree(port: number, host: string): Promise<boolean> {
  return (await tryToListen(port, host))?.code !== 'EADDRINUSE';
}

/** Why listening there fails now. Undefined if it works; the test socket is closed again. */
export function tryToListen(port: number, host: string): Promise<NodeJS.ErrnoException | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', resolve);
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}

/** One sentence for the operator. */
export function describeMovedPort({ setting, from, to, holder }: MovedPort): string {
  return `${setting} ${from} is taken by ${holder ?? 'another program'}, so ${to} is used.`;
}
