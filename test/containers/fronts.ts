import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { untilTrue } from '../support/deployment.ts';
import { mutatedSource } from '../support/mutated-source.ts';
import { startParleyProcess } from '../support/parley-process.ts';

/** A reverse proxy before a receiver and a service, by what the project ships or says. */
export interface Front {
  botUrl: string;
  serviceUrl: string;
  /** Who vouches for its certificate, in a file; undefined where it speaks plain HTTP. */
  certificates: string | undefined;
  stop(): Promise<void>;
}

/** Where the proxy finds them on this machine. */
export interface Behind {
  receiverPort: number;
  servicePort: number;
}

function read(path: string): string {
  return mutatedSource(resolve(path), readFileSync(path, 'utf8'));
}

/** Puts an address in another's place, which must be there once. */
function put(text: string, [from, to]: readonly [string, string]): string {
  if (text.split(from).length !== 2) throw new Error(`${from} is expected once`);
  return text.replace(from, to);
}

/** Caddy with the shipped file, the service's part switched on as the file says; its certificate is its own. */
export async function startCaddy({ receiverPort, servicePort }: Behind): Promise<Front> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-caddy-'));
  const [botHost, serviceHost] = [`localhost:${await freePort()}`, `localhost:${await freePort()}`];
  // Ports that every machine has free, and no certificate authority but its own: the rest is as shipped.
  const own = `{\n\tadmin off\n\thttp_port ${await freePort()}\n\tskip_install_trust\n}\n`;
  const switchedOn = read('config/Caddyfile').replace(/^# service\.example\.org[\s\S]*?^# \}$/m, (part) =>
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

/** nginx with the parts that OPERATIONS.md shows, first the bot's and then the service's. */
export async function startNginx({ receiverPort, servicePort }: Behind): Promise<Front> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-nginx-'));
  mkdirSync(join(folder, 'temp'));
  const [botHost, serviceHost] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
  const parts = [...read('docs/OPERATIONS.md').matchAll(/```nginx\n([\s\S]*?)```/g)].map(([, part = '']) => part);
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
