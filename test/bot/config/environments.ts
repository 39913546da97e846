import { afterAll } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { loadSettings, type LoadedSettings } from '../../../src/bot/config/load-settings.ts';
import type { Environment } from '../../../src/bot/config/read-values.ts';

export const SECRET_KEY = Buffer.alloc(32, 7).toString('base64');
export const AES_KEY = 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG';

/** Minimal settings of a production deployment. */
export const SERVING: Readonly<Record<string, string>> = {
  PUBLIC_URL: 'https://parley.example.org',
  CHAT_BASE_URL: 'https://chat.example.org/v1',
  CHAT_API_KEY: 'sk-institution',
  SIGN_IN_URL: 'https://sign-in.example.org',
  SIGN_IN_CLIENT_ID: 'parley',
  SIGN_IN_CLIENT_SECRET: 'client secret',
  REDIS_URL: 'rediss://user:pass@redis.example.org:6380',
  SECRET_KEY,
  WECOM_BOT_TOKEN: 'Token123',
  WECOM_BOT_AES_KEY: AES_KEY,
  WECOM_BOT_NAME: 'Campus Helper',
  WECOM_CORP_ID: 'ww0123456789',
  WECOM_AGENT_ID: '1000002',
  WECOM_AGENT_SECRET: 'agent secret',
};

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Creates a folder with exactly the given files. It is removed after the tests. */
export function folderWith(files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-settings-'));
  folders.push(folder);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

const EMPTY_FOLDER = folderWith();

export function load(env: Environment, cwd = EMPTY_FOLDER): LoadedSettings {
  return loadSettings({ env, cwd });
}

/** Loads the settings. @throws Error that lists the faults */
export function loadSound(env: Environment, cwd?: string): Extract<LoadedSettings, { ok: true }> {
  const loaded = load(env, cwd);
  if (!loaded.ok) throw new Error(loaded.faults.map(({ message }) => message).join('\n'));
  return loaded;
}

/** Returns the names of the faulty settings. */
export function faultyNames(env: Environment, cwd?: string): string[] {
  const loaded = load(env, cwd);
  return loaded.ok ? [] : loaded.faults.map(({ setting }) => setting);
}

export function without(env: Readonly<Record<string, string>>, ...names: string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)));
}
