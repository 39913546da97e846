import { execFileSync } from 'node:child_process';
import { chownSync, cpSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { untilTrue } from '../support/deployment.ts';
import { startParleyProcess, type ParleyProcess } from '../support/parley-process.ts';
import { startTestRedis } from '../support/redis.ts';
import { DEMO_FILE, environmentOf, readCompose } from './compose-file.ts';
import { asUserOf, buildImage } from './image-files.ts';

test("the demo of docker-compose.yml starts from the image's files, as its user and without any setting", async () => {
  const image = buildImage();
  const root = dirname(dirname(image.folder));
  const redis = await startTestRedis();
  const { demo = {} } = readCompose(DEMO_FILE);
  const dataDir = join(root, 'data');
  mkdirSync(dataDir);
  // Like the folder in the image.
  if (process.getuid?.() === 0) chownSync(dataDir, image.user, image.user);
  expect(demo.volumes).toEqual(['./examples:/app/examples:ro', 'demo-data:/data']);
  cpSync('examples', join(image.folder, 'examples'), { recursive: true });
  execFileSync('chmod', ['-R', 'a+rX,a-w', image.folder]);
  execFileSync('chmod', ['a+rx', root, dirname(image.folder)]);
  const ports = { PORT: await freePort(), SERVICE_PORT: await freePort(), MESSENGER_PORT: await freePort() };
  const here = { ...environmentOf(demo), HOST: '127.0.0.1', DATA_DIR: dataDir, REDIS_URL: redis.url };
  const numbers = Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, String(port)]));
  const env = { ...image.env, ...here, ...numbers };
  let parley: ParleyProcess | undefined;
  try {
    const command = asUserOf(image, image.command);
    parley = await startParleyProcess({ cwd: image.folder, env, command, until: /running in local mode/ });
    const [, page = ''] = /Open (http:\S+) in a browser/.exec(parley.output()) ?? [];
    // The token of the printed address becomes a cookie.
    const opened = await fetch(page, { redirect: 'manual' });
    const cookie = opened.headers
      .getSetCookie()
      .map((each) => each.split(';')[0])
      .join('; ');
    expect(await (await fetch(new URL('/', page), { headers: { cookie } })).text()).toContain('<html');
    const statusOf = async () => (await fetch(`http://127.0.0.1:${ports.PORT}/readyz`)).status;
    await untilTrue(async () => (await statusOf()) === 200);
  } finally {
    parley?.kill('SIGKILL');
    await parley?.ended;
    await redis.stop();
    execFileSync('chmod', ['-R', 'u+w', root]);
    execFileSync('rm', ['-rf', root]);
  }
}, 120_000);
