import { spawn } from 'node:child_process';

/** What determines whether a browser can be opened. */
export interface Desk {
  platform: NodeJS.Platform;
  env: Readonly<Record<string, string | undefined>>;
  /** Whether a person reads the output. */
  isTerminal: boolean;
}

/**
 * The command that opens an address in the user's browser. Undefined without a user (no terminal, CI) or without a display.
 */
export function browserCommand({ platform, env, isTerminal }: Desk): [program: string, ...args: string[]] | undefined {
  const isSet = (name: string) => (env[name] ?? '') !== '';
  if (!isTerminal || isSet('CI')) return undefined;
  if (platform === 'darwin') return ['open'];
  if (isSet('WSL_DISTRO_NAME')) return ['explorer.exe'];
  return platform === 'linux' && (isSet('DISPLAY') || isSet('WAYLAND_DISPLAY')) ? ['xdg-open'] : undefined;
}

/**
 * Opens an address in the user's browser, if possible. Failures are ignored, because the address is also printed.
 * @returns whether it was tried
 */
export function openBrowser(url: string, desk: Desk): boolean {
  const [program, ...args] = browserCommand(desk) ?? [];
  if (program === undefined) return false;
  const opener = spawn(program, [...args, url], { detached: true, stdio: 'ignore' });
  opener.on('error', () => undefined);
  opener.unref();
  return true;
}
