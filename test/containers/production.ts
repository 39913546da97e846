import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { got } from 'got';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { untilTrue } from '../support/deployment.ts';
import { startParleyProcess, type ParleyProcess } from '../support/parley-process.ts';
import { environmentOf, readCompose } from './compose-file.ts';
import { asUserOf, buildImage } from './image-files.ts';

const UP = /Parley (is running|has started)/;
const PASSWORD = 'a1b2c3d4e5f6';

/** A process of a Compose service, in its own folder. */
interface Running {
  parley: ParleyProcess;
  port: number;
}

/** The services of docker-compose.production.yml as plain processes, each in a folder with only the image's files. */
export interface Production {
  /** The folder that each process has as `config/`. */
  configFolder: string;
  ports: { receiver: number; service: number };
  /** Starts a Compose service and waits until it is ready, or until it exits if it is a one-off command. */
  start(name: string): Promise<ParleyProcess>;
  running(name: string): ParleyProcess;
  /** Stops a service like Compose. @returns its exit code */
  stop(name: string): Promise<number | null>;
  /** Makes all later processes trust a certificate. */
  believe(certificates: string): void;
  close(): Promise<void>;
}

export async function layOutProduction(): Promise<Production> {
  const image = buildImage();
  const services = readCompose();
  const root = mkdtempSync(join(tmpdir(), 'parley-production-'));
  chmodSync(root, 0o755);
  const configFolder = join(root, 'config');
  mkdirSync(configFolder);
  execFileSync('chmod', ['-R', 'a+rX,a-w', image.folder]);
  execFileSync('chmod', ['a+rx', dirname(image.folder), dirname(dirname(image.folder))]);
  const ports = new Map<string, number>();
  for (const name of Object.keys(services)) ports.set(name, await freePort());
  const portOf = (name: string) => ports.get(name) ?? 0;
  const running = new Map<string, Running>();
  const more: Record<string, string> = {};

  /** The environment from Compose, with each container's port 8080 as a port of this machine. */
  const envOf = (name: string): Record<string, string> => {
    const env = { ...image.env, ...environmentOf(services[name] ?? {}, { REDIS_PASSWORD: PASSWORD }), ...more };
    const address = /@([\w-]+):6379/.exec(env['REDIS_URL'] ?? '')?.[1] ?? '';
    return {
      ...env,
      ...{ HOST: '127.0.0.1', PORT: String(portOf(name)), NODE_ENV: 'production' },
      REDIS_URL: (env['REDIS_URL'] ?? '').replace(`${address}:6379`, `127.0.0.1:${portOf(address)}`),
      ...('SERVICE_PORT' in env ? { SERVICE_PORT: String(portOf(name)) } : {}),
      ...('DATA_DIR' in env ? { DATA_DIR: join(root, name, 'data') } : {}),
    };
  };

  const startRedis = async (name: string): Promise<ParleyProcess> => {
    const { command = [] } = services[name] ?? {};
    const folder = join(root, name);
    mkdirSync(folder, { recursive: true });
    const [shell = '', flag = '', line = ''] = command;
    const here = `${line.replaceAll('$$', '$')} --port ${portOf(name)} --bind 127.0.0.1 --dir ${folder}`;
    const env = { REDISCLI_AUTH: PASSWORD };
    return startParleyProcess({ command: [shell, flag, here], env, until: /Ready to accept connections/ });
  };

  const startOurs = async (name: string): Promise<ParleyProcess> => {
    const folder = join(root, name, 'app');
    mkdirSync(folder, { recursive: true });
    mkdirSync(join(root, name, 'data'), { recursive: true });
    chmodSync(join(root, name, 'data'), 0o777);
    for (const each of [...readdirSync(image.folder), 'config'])
      if (!existsSync(join(folder, each)))
        symlinkSync(each === 'config' ? configFolder : join(image.folder, each), join(folder, each));
    const endsByItself = services[name]?.restart === 'no';
    const command = asUserOf(image, services[name]?.command ?? image.command);
    const parley = await startParleyProcess({
      ...{ cwd: folder, env: envOf(name), command },
      ...(endsByItself ? {} : { until: UP }),
    });
    const isReady = async () => {
      const url = `http://127.0.0.1:${portOf(name)}/readyz`;
      return (await got(url, { throwHttpErrors: false, retry: { limit: 0 } })).statusCode === 200;
    };
    await (endsByItself ? parley.ended : untilTrue(isReady));
    return parley;
  };

  const find = (name: string): ParleyProcess => {
    const found = running.get(name);
    if (!found) throw new Error(`${name} does not run`);
    return found.parley;
  };

  return {
    configFolder,
    ports: { receiver: portOf('receiver'), service: portOf('service') },
    async start(name) {
      const parley = await (name.endsWith('redis') ? startRedis(name) : startOurs(name));
      running.set(name, { parley, port: portOf(name) });
      return parley;
    },
    running: find,
    stop(name) {
      find(name).kill('SIGTERM');
      return find(name).ended;
    },
    believe(certificates) {
      copyFileSync(certificates, join(configFolder, 'proxy.crt'));
      chmodSync(join(configFolder, 'proxy.crt'), 0o644);
      more['NODE_EXTRA_CA_CERTS'] = join(configFolder, 'proxy.crt');
    },
    async close() {
      for (const { parley } of running.values()) parley.kill('SIGKILL');
      await Promise.all([...running.values()].map(({ parley }) => parley.ended));
      for (const folder of [root, dirname(dirname(image.folder))]) {
        execFileSync('chmod', ['-R', 'u+w', folder]);
        execFileSync('rm', ['-rf', folder]);
      }
    },
  };
}

/** The settings of a documentation page with these values in place of the shown ones. */
export function settingsAsShown(page: string, values: Readonly<Record<string, string>>): string {
  const [, block = ''] = /```sh\n(\s*PUBLIC_URL=[\s\S]*?)```/.exec(readFileSync(page, 'utf8')) ?? [];
  const lines = block
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  const names = lines.map((line) => line.split('=', 1)[0] ?? '');
  const filled = lines.map((line, index) => {
    const [, shown = '', note = ''] = /^\w+=(\S*)(.*)$/.exec(line) ?? [];
    const name = names[index] ?? '';
    return `${name}=${values[name] ?? shown}${note}`;
  });
  const others = Object.entries(values).filter(([name]) => !names.includes(name));
  return [...filled, ...others.map(([name, value]) => `${name}=${value}`), ''].join('\n');
}

/** Writes the files in `config/` that a deployment defines itself. */
export function writeConfig(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content, { mode: 0o644 });
}
