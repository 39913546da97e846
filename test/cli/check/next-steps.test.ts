import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { proofOfConfiguration } from '../../../src/bot/app/configuration-proof.ts';
import { freePort, startEmbeddedRedis, type EmbeddedRedis } from '../../../src/bot/app/local/embedded-redis.ts';
import { SETTING_NAMES } from '../../../src/bot/config/schema.ts';
import type { CheckResult } from '../../../src/bot/platforms/platform.ts';
import { runCheckCommand } from '../../../src/cli/check/check-command.ts';
import { listen, type ListeningServer } from '../../../src/shared/http/http-server.ts';
import { loadSound, SERVING, without } from '../../bot/config/environments.ts';
import { CLOSED_PORT } from '../../support/closed-port.ts';

const KEY = 'sk-institution';
const WECOM = Object.keys(SERVING).filter((name) => name.startsWith('WECOM_'));
const OFFERED = ['text-embedding-3', 'qwen-mine', 'qwen-small'];

let redis: EmbeddedRedis;
let server: ListeningServer;
/** Answers the public address as a Parley with the settings of the current round would. */
let prove: (nonce: string) => string;
let hasList = true;
beforeAll(async () => {
  redis = await startEmbeddedRedis();
  server = await listen(
    (request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
        const isAllowed = request.headers.authorization === `Bearer ${KEY}`;
        const [status, body] = answerTo(pathname, searchParams, Buffer.concat(pieces).toString(), isAllowed);
        response.statusCode = status;
        response.end(JSON.stringify(body));
      });
    },
    0,
    '127.0.0.1',
  );
});
afterAll(async () => {
  await server.close();
  await redis.stop();
});
afterEach(() => {
  hasList = true;
});

function answerTo(path: string, query: URLSearchParams, body: string, isAllowed: boolean): [number, object?] {
  if (path.startsWith('/v1/') && !isAllowed) return [401];
  if (path === '/v1/models') return hasList ? [200, { data: OFFERED.map((id) => ({ id })) }] : [404];
  if (path === '/v1/chat/completions')
    return OFFERED.some((name) => body.includes(`"model":"${name}"`)) ? [200, { choices: [{}] }] : [404];
  if (path === '/webhooks/slack') return [401];
  if (['/webhooks/whose', '/healthz'].includes(path)) return [200, { proof: prove(query.get('nonce') ?? '') }];
  if (path === '/api/auth.test') return [200, { ok: true, user: 'parley', team: 'Campus' }];
  return [['/oauth2.0/authorize', '/sign-in/confirm'].includes(path) ? 200 : 404];
}

async function goodEnv(): Promise<Record<string, string>> {
  const { url } = server;
  return {
    ...without(SERVING, ...WECOM),
    ...{ SLACK_SIGNING_SECRET: 'signing-secret', SLACK_BOT_TOKEN: 'xoxb-1-token', SIGN_IN_PROOF: 'same-id' },
    ...{ PUBLIC_URL: url, CHAT_BASE_URL: `${url}/v1`, CHAT_API_KEY: KEY, SIGN_IN_URL: url },
    ...{ SLACK_API_URL: `${url}/api/`, PORT: String(await freePort()), REDIS_URL: redis.url },
  };
}

async function check(env: Record<string, string>): Promise<CheckResult[]> {
  const { config, secrets } = loadSound({ ...env, ENV_FILE: '/dev/null' }, process.cwd());
  prove = (nonce) => proofOfConfiguration(config, secrets).answer(nonce);
  let text = '';
  await runCheckCommand(config, secrets, { write: (more: string) => (text += more), isJson: true });
  return (JSON.parse(text) as { checks: CheckResult[] }).checks;
}

/** Follows a next step as an operator would: each setting that it names gets a name it offers, or its right value. */
function follow(step: string, env: Record<string, string>, good: Record<string, string>): Record<string, string> {
  const choice = /(?:from: |offers: )(.*)$/.exec(step)?.[1]?.split(', ').at(-1);
  const named = SETTING_NAMES.filter((name) => new RegExp(`\\b${name}\\b`).test(step));
  const right = (name: string) => choice ?? good[name] ?? (name === 'CHAT_MODELS' ? 'qwen-mine' : '');
  return { ...env, ...Object.fromEntries(named.map((name) => [name, right(name)])) };
}

const CLOSED = `127.0.0.1:${CLOSED_PORT}`;
type Faulty = [name: string, make: () => Record<string, string> | Promise<Record<string, string>>];
const FAULTS: Faulty[] = [
  ['CHAT_MODELS names models that the engine does not offer', () => ({ CHAT_MODELS: 'svc-plus,svc-max' })],
  ['CHAT_MODELS and CHAT_MODEL do', () => ({ CHAT_MODELS: 'svc-plus', CHAT_MODEL: 'svc-plus' })],
  ['CHAT_MODEL alone does', () => ({ CHAT_MODEL: 'gpt-x' })],
  ['CHAT_FALLBACK_MODEL does', () => ({ CHAT_FALLBACK_MODEL: 'gpt-x' })],
  ['CHAT_BASE_URL has no version', () => ({ CHAT_BASE_URL: server.url })],
  ['CHAT_BASE_URL leads nowhere', async () => ({ CHAT_BASE_URL: `http://${CLOSED}/v1` })],
  ['the engine refuses the key', () => ({ CHAT_API_KEY: 'sk-wrong' })],
  ['the sign-in service has no such path', () => ({ SIGN_IN_URL: `${server.url}/base` })],
  ['the sign-in service is away', async () => ({ SIGN_IN_URL: `http://${CLOSED}` })],
  ['Redis is away', async () => ({ REDIS_URL: `redis://${CLOSED}` })],
  ['the public address leads nowhere', async () => ({ PUBLIC_URL: `http://${CLOSED}` })],
];

describe('the next steps of npm run check', () => {
  test('are none if everything is right, however often it runs', async () => {
    const env = await goodEnv();
    const without = (results: CheckResult[]) =>
      results.map(({ detail, ...rest }) => ({ ...rest, detail: detail.replace(/\d+ ms/, '') }));
    const first = await check(env);
    expect(first.filter(({ verdict }) => ['warning', 'fault'].includes(verdict))).toEqual([]);
    expect(without(await check(env))).toEqual(without(first));
  });

  test.each(FAULTS)('end in success when followed after %s', async (_name, make) => {
    const good = await goodEnv();
    await followUntilGreen({ ...good, ...(await make()) }, good);
  });

  test('end in success when followed after the engine lists no models', async () => {
    hasList = false;
    const good = await goodEnv();
    await followUntilGreen(good, good);
  });
});

async function followUntilGreen(faulty: Record<string, string>, good: Record<string, string>): Promise<void> {
  let env = faulty;
  for (let round = 0; ; round += 1) {
    const wrong = (await check(env)).filter(({ verdict }) => ['warning', 'fault'].includes(verdict));
    if (wrong.length === 0) {
      expect(round).toBeGreaterThan(0);
      return;
    }
    expect(wrong.filter(({ nextStep }) => nextStep === undefined)).toEqual([]);
    expect({ round, wrong, isLast: round === 2 }).toMatchObject({ isLast: false });
    for (const { nextStep = '' } of wrong) env = follow(nextStep, env, good);
  }
}
