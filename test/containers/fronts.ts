import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { untilTrue } from '../support/deployment.ts';
import { startParleyProcess } from '../support/parley-process.ts';

/** A reverse proxy in front of a receiver and a service, with the shipped or documented configuration. */
export interface Front {
  botUrl: string;
  serviceUrl: string;
  /** File with the certificates to trust; undefined for plain HTTP. */
  certificates: string | undefined;
  stop(): Promise<void>;
}

/** Ports of the receiver and the service on this machine. */
export interface Behind {
  receiverPort: number;
  servicePort: number;
}

function read(path: string): string {
  return readFileSync(path, 'utf8');
}

/** Replaces an address that must occur exactly once. */
function put(text: string, [from, to]: readonly [string, string]): string {
  if (text.split(from).length !== 2) throw new Error(`${from} is expected once`);
  return text.replace(from, to);
}

/** Caddy with the shipped file and the service's part enabled as described there. It uses its own certificate. */
export async function startCaddy({ receiverPort, servicePort }: Behind): Promise<Front> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-caddy-'));
  const [botHost, serviceHost] = [`localhost:${await freePort()}`, `localhost:${await freePort()}`];
  // Free ports, and no certificate authority other than Caddy's own; the rest is as shipped.
  const own = `{\n\tadmin off\n\thttp_port ${await freePort()}\n\tskip_install_trust\n}\n`;
  const switchedOn = read('defaults/Caddyfile').replace(/^# service\.example\.org[\s\S]*?^# \}$/m, (part) =>
    part.replaceAll(/^# /gm, ''),
  );
  const file = [
    ['receiver:8080', `127.0.0.1:${receiverPort}`] as const,
    ['\nservice.example.org', `\n${serviceHost}`] as const,
    ['service:8080', `127.0.0.1:${servicePort}`] as const,
  ].reduce(put, switchedOn);
  writeFileSync(join(folder, 'Caddyfile'), own + file);
  const caddy = await startParleyProcess({
    command: ['caddy', 'run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')],
    env: { PARLEY_HOST: botHost, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    until: /serving initial configuration/,
  });
  const certificates = join(folder, 'caddy/pki/authorities/local/root.crt');
  await untilTrue(() => existsSync(certificates));
  return {
    ...{ botUrl: `https://${botHost}`, serviceUrl: `https://${serviceHost}`, certificates },
    async stop() {
      caddy.kill('SIGTERM');
      await caddy.ended;
      rmSync(folder, { recursive: true });
    },
  };
}

/** nginx with the configuration in OPERATIONS.md, for the bot and the service. */
export async function startNginx({ receiverPort, servicePort }: Behind): Promise<Front> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-nginx-'));
  mkdirSync(join(folder, 'temp'));
  const [botHost, serviceHost] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
  const parts = [...read('docs/guide/OPERATIONS.md').matchAll(/```nginx\n([\s\S]*?)```/g)].map(([, part = '']) => part);
  const [bot = '', service = ''] = parts;
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/temp/${name};`,
  );
  const server = (host: string, part: string, port: number) =>
    `server { listen ${host}; ${part.replaceAll(/127\.0\.0\.1:808\d/g, `127.0.0.1:${port}`)} }`;
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; master_process off; error_log stderr notice; pid ${folder}/pid; events {}
    http { access_log off; ${temporary.join(' ')}
    ${server(botHost, bot, receiverPort)}
    ${server(serviceHost, service, servicePort)} }`,
  );
  const nginx = await startParleyProcess({
    command: ['nginx', '-p', folder, '-c', join(folder, 'nginx.conf')],
    env: { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` },
    until: /using the "epoll" event method|start worker processes/,
  });
  return {
    ...{ botUrl: `http://${botHost}`, serviceUrl: `http://${serviceHost}`, certificates: undefined },
    async stop() {
      nginx.kill('SIGTERM');
      await nginx.ended;
      rmSync(folder, { recursive: true });
    },
  };
}
