import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { listen, type ListeningServer } from '../../../src/shared/http/http-server.ts';
import { runCheckCommand } from '../../../src/cli/check/check-command.ts';
import { proofOfConfiguration } from '../../../src/bot/app/configuration-proof.ts';
import { freePort, startEmbeddedRedis, type EmbeddedRedis } from '../../../src/bot/app/local/embedded-redis.ts';
import { startParleyProcess } from '../../support/parley-process.ts';
import { refusalOf } from '../../../src/cli/start/config-errors.ts';
import { loadSound, folderWith, SECRET_KEY, SERVING, without } from '../../bot/config/environments.ts';
import { answering, type Answers } from './support.ts';

const servers: ListeningServer[] = [];
let redis: EmbeddedRedis;
beforeAll(async () => {
  redis = await startEmbeddedRedis();
});
afterAll(() => redis.stop());
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function serve(answers: Answers): Promise<string> {
  const server = await answering(answers);
  servers.push(server);
  return server.url;
}

/** The lines of `npm run check`, each as `verdict name detail`. */
async function linesOf(env: Record<string, string>): Promise<{ lines: string[]; exitCode: number }> {
  const { config, secrets } = loadSound(env);
  let text = '';
  const exitCode = await runCheckCommand(config, secrets, { write: (more: string) => (text += more) });
  return { lines: text.split('\n').map((line) => line.replaceAll(/ +/g, ' ')), exitCode };
}

describe('npm run check', () => {
  const SLACK = { SLACK_SIGNING_SECRET: 'signing-secret', SLACK_BOT_TOKEN: 'xoxb-1-token', SIGN_IN_PROOF: 'same-id' };
  const WECOM = Object.keys(SERVING).filter((name) => name.startsWith('WECOM_'));

  /** Starts everything around a bot, with scripted answers of its public address. */
  async function around(): Promise<Record<string, string>> {
    const url = await serve({
      '/healthz': 200,
      '/webhooks/slack': 401,
      '/webhooks/wecom': 404,
      '/api/auth.test': [200, { ok: true, user: 'parley', team: 'Campus' }],
      '/v1/models': [200, { data: [{ id: 'svc-plus' }, { id: 'svc-max' }] }],
      '/v1/chat/completions': [200, { choices: [{}] }],
      '/oauth2.0/authorize': 200,
    });
    return {
      ...{ PUBLIC_URL: url, CHAT_BASE_URL: `${url}/v1`, SIGN_IN_URL: url, SLACK_API_URL: `${url}/api/` },
      ...{ PORT: String(await freePort()), REDIS_URL: redis.url },
    };
  }

  test('tests Slack and its webhook without WeCom', async () => {
    const { lines } = await linesOf({ ...without(SERVING, ...WECOM), ...SLACK, ...(await around()) });
    expect(lines).toContain('ok Slack bot parley in Campus');
    expect(lines.join('\n')).toContain('ok Chat answer svc-plus');
    expect(lines.join('\n')).toMatch(
      /hint Files \S+policy\.json does not exist, so Parley's own policy applies: everyone may/,
    );
    // The server at that address does not know the key, so its answers are not trusted.
    expect(lines.join('\n')).toMatch(/fault Public address .* leads to another program/);
    expect(lines.join('\n')).not.toContain('WeCom');
  });

  test("tests Slack's webhook through the public address once that is known to be the bot's own", async () => {
    let prove = (_nonce: string) => '';
    const server = await listen(
      (request, response) => {
        const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
        response.statusCode = pathname === '/webhooks/slack' ? 401 : 200;
        response.end(JSON.stringify({ proof: prove(searchParams.get('nonce') ?? '') }));
      },
      0,
      '127.0.0.1',
    );
    servers.push(server);
    const env = { ...without(SERVING, ...WECOM), ...SLACK, ...(await around()), PUBLIC_URL: server.url };
    const { config, secrets } = loadSound(env);
    prove = (nonce) => proofOfConfiguration(config, secrets).answer(nonce);
    const { lines } = await linesOf(env);
    expect(lines.join('\n')).toContain(`ok Webhook slack ${server.url}/webhooks/slack is served`);
  });

  test('tests the model that was connected on the page, and inspects the data folder', async () => {
    const url = await serve({ '/v1/models': [200, { data: [{ id: 'own' }] }], '/v1/chat/completions': 401 });
    const own = JSON.stringify({ baseUrl: `${url}/v1`, apiKey: 'sk-of-mine-0123', model: 'own' });
    const folder = folderWith({ 'own-model.json': own });
    const ports = {
      PORT: String(await freePort()),
      SERVICE_PORT: String(await freePort()),
      MESSENGER_PORT: String(await freePort()),
    };
    const { lines, exitCode } = await linesOf({ ...ports, DATA_DIR: folder });
    expect(lines.join('\n')).toMatch(
      /ok Connected chat models own\n[^]*fault Connected chat answer answers 401 → Set the key on the page/,
    );
    expect(exitCode).toBe(1);
    const besideFile = await linesOf({ ...ports, DATA_DIR: `${folder}/own-model.json` });
    expect(besideFile.lines).toContain(
      `fault Files The folder ${folder}/own-model.json is not writable: set DATA_DIR to a writable folder`,
    );
  });

  test('does not mistake its own port check for the bot', async () => {
    const port = String(await freePort());
    const env = {
      ...SERVING,
      ...(await around()),
      PORT: port,
      HOST: '127.0.0.1',
      PUBLIC_URL: `http://127.0.0.1:${port}`,
    };
    for (let round = 0; round < 5; round += 1) {
      const told = (await linesOf(env)).lines.join('\n');
      expect(told).toContain(`ok Ports free: PORT ${port}`);
      expect(told).toMatch(/warning Public address nothing answers at .* \(ECONNREFUSED\)/);
    }
  });

  test('tests both platforms if both are on', async () => {
    const env = { ...SERVING, ...SLACK, ...(await around()) };
    const wecom = await serve({ '/cgi-bin/gettoken': [200, { errcode: 40_013 }] });
    const { lines, exitCode } = await linesOf({ ...env, WECOM_API_URL: wecom });
    expect(lines).toContain('ok Slack bot parley in Campus');
    expect(lines.join('\n')).toContain('WeCom bot');
    expect(exitCode).toBe(1);
  });
});

describe('npm run check with ROLES=service', () => {
  const ALONE = { ROLES: 'service', SECRET_KEY };

  test('checks the service, and names the missing files', async () => {
    const { lines, exitCode } = await linesOf({ ...ALONE, PORT: String(await freePort()) });
    const told = lines.join('\n');
    expect(told).toMatch(/fault Service Every call of the chat interface gets 401.*SERVICE_API_KEYS/);
    expect(told).toMatch(/warning Service No application.*SERVICE_CLIENTS_FILE/);
    expect(told).toMatch(/warning Service No one can sign in.*SERVICE_DIRECTORY_FILE/);
    for (const word of ['CHAT_BASE_URL', 'Sign-in service', 'Messaging app', 'WeCom']) expect(told).not.toContain(word);
    expect(exitCode).toBe(1);
  });

  test('tests its engine and its institution by their settings', async () => {
    const url = await serve({ '/engine/v1/models': 401, '/engine/v1/chat/completions': 401, '/cas/login': 404 });
    const folder = folderWith({
      'clients.json': JSON.stringify([
        { client_id: 'a', client_secret: 'b', name: 'c', redirect_uris: ['https://a.example/'] },
      ]),
    });
    const { lines } = await linesOf({
      ...{ ...ALONE, PORT: String(await freePort()), SERVICE_API_KEYS: 'sk-one' },
      ...{ SERVICE_CLIENTS_FILE: `${folder}/clients.json`, SERVICE_CAS_URL: `${url}/cas` },
      ...{ SERVICE_UPSTREAM_URL: `${url}/engine/v1`, SERVICE_UPSTREAM_KEY: 'wrong' },
    });
    const told = lines.join('\n');
    expect(told).toContain('ok Service API keys, applications and people are configured');
    expect(told).toMatch(/fault Engine answer answers 401 → Set SERVICE_UPSTREAM_KEY/);
    expect(told).toMatch(/fault Institution .*\/cas\/login answers 404 → Check SERVICE_CAS_URL/);
  });
});

test('invalid settings are reported by the check with a note that nothing was tested, unlike at a start', async () => {
  const env = { ENV_FILE: '/dev/null', PORT: 'eighty' };
  const told = async (...args: string[]) => {
    const parley = await startParleyProcess({ env, command: ['node', 'dist/main.js', ...args] });
    expect(await parley.ended).toBe(2);
    return parley.output();
  };
  expect(await told('check')).toMatch(
    /1 setting to correct\n {2}PORT must be .*\nNo service was checked\. .* npm run check again\.\n$/,
  );
  expect(await told()).not.toContain('No service was checked');
  expect(refusalOf(['A is wrong', 'B is wrong'], { isCheck: true }).split('\n')).toEqual([
    'Parley cannot start: 2 settings to correct',
    '  A is wrong',
    '  B is wrong',
    expect.stringMatching(/^No service was checked\./),
    '',
  ]);
});
