import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createLog } from '../../shared/log.ts';
import { faultsOfNamedFiles } from '../check/config-files.ts';
import { startApp, type App } from '../../bot/app/app.ts';
import { takeFreePorts } from '../../bot/app/take-free-ports.ts';
import type { Group } from '../../simulator/directory.ts';
import type { ServicePerson } from '../../service/directory-file.ts';
import { withModelsToday } from '../../bot/app/listed-models.ts';
import type { Config } from '../../bot/config/config.ts';
import { loadSettings } from '../../bot/config/load-settings.ts';
import { readValues, type Environment } from '../../bot/config/read-values.ts';

/**
 * Settings that an evaluation keeps: the engine and everything that influences answers. Platforms, Redis and sign-in are
 * replaced.
 */
const KEPT =
  /^(?:CHAT_|MODELS_FILE$|THINKING_|POLICY_FILE$|TOOLS_FILE$|SCENES_FILE$|KNOWLEDGE_FILE$|PROMPTS_FILE$|WEB_SEARCH_|SERVICE_UPSTREAM_|SERVICE_DIRECTORY_FILE$|GROUP_SCOPE$|HTTPS?_PROXY$|NO_PROXY$|AI_MARK$|MODERATION_|SHUTDOWN_GRACE_SEC$)/;

/** A temporary local Parley on free ports, with a folder that is deleted afterwards. */
export interface LocalParley {
  readonly app: App;
  readonly config: Config;
  close(): Promise<void>;
}

/** Thrown with the reasons why the evaluation cannot start, one sentence each. */
export class EvalStartError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

/**
 * The settings of the temporary Parley.
 * @throws CannotStart
 */
export function settingsOf(env: Environment, cwd: string, more: Readonly<Record<string, string>> = {}) {
  const { texts } = readValues(env, cwd);
  const kept = Object.entries(texts).filter(
    ([name, text]) => text !== '' && (KEPT.test(name) || (name === 'SIGN_IN' && text === 'optional')),
  );
  const values = {
    ...Object.fromEntries(kept),
    NODE_ENV: env['NODE_ENV'],
    ENV_FILE: '/dev/null',
    LOG_FORMAT: 'json',
    ...more,
  };
  const settings = loadSettings({ env: values, cwd });
  if (!settings.ok) throw new EvalStartError(settings.faults.map(({ message }) => message));
  return settings;
}

/**
 * @param office the people and groups
 * @throws CannotStart
 */
export async function startLocalParley(
  { env, cwd }: { env: Environment; cwd: string },
  office: { directory: readonly ServicePerson[]; groups: readonly Group[] },
): Promise<LocalParley> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-eval-'));
  try {
    const directoryFile = join(folder, 'people.json');
    writeFileSync(directoryFile, JSON.stringify(office.directory), { mode: 0o600 });
    const dataDir = join(folder, 'data');
    bringPages(resolve(cwd, env['DATA_DIR'] ?? 'data'), dataDir);
    const own = { DATA_DIR: dataDir, SERVICE_DIRECTORY_FILE: directoryFile, MESSENGER_PROTOCOL: 'wecom' };
    const read = (ports: Readonly<Record<string, string>> = {}) => settingsOf(env, cwd, { ...own, ...ports });
    const faults = await faultsOfNamedFiles(read().config);
    if (faults.length > 0) throw new EvalStartError(faults);
    const { app, settings } = await startOnFreePorts(read, office.groups);
    return {
      app,
      config: await withModelsToday(settings.config, settings.secrets),
      async close() {
        await app.close();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

const MAX_STARTS = 5;

/** Another program may take a port after it was found free; then the next ports are tried. */
async function startOnFreePorts(
  read: (ports?: Readonly<Record<string, string>>) => ReturnType<typeof settingsOf>,
  groups: readonly Group[],
) {
  for (let attempt = 1; ; attempt += 1) {
    const { settings } = await takeFreePorts(read(), read);
    try {
      const app = await startApp({
        ...{ config: settings.config, secrets: settings.secrets, groups },
        log: createLog({ level: 'fatal', format: 'json', role: 'eval' }),
        onFatal: (sentence) => process.stderr.write(`${sentence}\n`),
      });
      return { app, settings };
    } catch (error) {
      if (attempt === MAX_STARTS || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
}

/** Copies the already fetched pages of sites, because a crawl takes hours and burdens the site. */
function bringPages(from: string, to: string): void {
  const kept = join(from, 'knowledge', 'pages');
  if (existsSync(kept)) cpSync(kept, join(to, 'knowledge', 'pages'), { recursive: true });
}
