import { afterEach, describe, expect, test } from '@jest/globals';
import { listen, type ListeningServer } from '../../../../src/shared/http/http-server.ts';
import { takeProbePorts } from '../../../../src/cli/check/probe-ports.ts';
import { freePort } from '../../../../src/bot/app/local/embedded-redis.ts';
import { load, loadSound } from '../../../bot/config/environments.ts';

const taken: ListeningServer[] = [];
afterEach(async () => {
  for (const server of taken.splice(0)) await server.close();
});

/** A port that another process uses. */
async function takenPort(): Promise<string> {
  const server = await listen((_request, response) => response.end('another'), 0, '127.0.0.1');
  taken.push(server);
  return String(server.port);
}

describe('the ports of the sign-in probe', () => {
  test('move to a free one in local mode if they are taken, and only the used ones are reported', async () => {
    const [SERVICE_PORT, MESSENGER_PORT] = [await takenPort(), await takenPort()];
    const env = { PORT: String(await freePort()), SERVICE_PORT, MESSENGER_PORT };
    const { settings, told } = await takeProbePorts(loadSound(env), (more) => load({ ...env, ...more }));
    expect(settings.config.local.servicePort).not.toBe(Number(SERVICE_PORT));
    const sentence = new RegExp(
      `^SERVICE_PORT ${SERVICE_PORT} is taken by .*\\(process ${process.pid}\\), so \\d+ is used`,
    );
    expect(told).toEqual([expect.stringMatching(sentence)]);
  });

  test('stay the same for a redirect address that is registered at the institution', async () => {
    const client = { SIGN_IN_CLIENT_ID: 'parley', SIGN_IN_CLIENT_SECRET: 'secret-of-the-client' };
    const env = { PORT: await takenPort(), MESSENGER_PROTOCOL: 'wecom', SIGN_IN_URL: 'http://127.0.0.1:1', ...client };
    const { settings, told } = await takeProbePorts(loadSound(env), (more) => load({ ...env, ...more }));
    expect([settings.config.mode, settings.config.http.port, told]).toEqual(['local', Number(env.PORT), []]);
  });
});
