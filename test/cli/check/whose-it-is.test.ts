import { afterEach, describe, expect, test } from '@jest/globals';
import { checkPublicUrl } from '../../../src/cli/check/check-public-url.ts';
import { type ListeningServer, listen } from '../../../src/shared/http/http-server.ts';
import { checkPorts } from '../../../src/cli/check/check-ports.ts';
import { proofOfConfiguration } from '../../../src/bot/app/configuration-proof.ts';
import { freePort } from '../../../src/bot/app/local/embedded-redis.ts';
import { loadSound, SERVING } from '../../bot/config/environments.ts';

const OTHER_KEY = Buffer.alloc(32, 9).toString('base64');
const open: ListeningServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

function proofOf(change: Record<string, string> = {}) {
  const { config, secrets } = loadSound({ ...SERVING, ...change });
  return proofOfConfiguration(config, secrets);
}

/** A server that answers a nonce and may use earlier ones. */
async function serving(answerTo: (nonce: string) => string | undefined): Promise<ListeningServer> {
  const server = await listen(
    (request, response) => {
      const proof = answerTo(new URL(request.url ?? '', 'http://x').searchParams.get('nonce') ?? '');
      response.end(JSON.stringify({ status: 'alive', ...(proof === undefined ? {} : { proof }) }));
    },
    0,
    '127.0.0.1',
  );
  open.push(server);
  return server;
}

async function checked(answerTo: (nonce: string) => string | undefined, judge = proofOf().judge): Promise<string> {
  const { url } = await serving(answerTo);
  const [result] = await checkPublicUrl({ publicUrl: url, judge, platforms: [] });
  return `${result?.verdict ?? ''}: ${result?.detail ?? ''}`;
}

describe('the target of PUBLIC_URL in npm run check', () => {
  test('is accepted as a Parley with these settings, for any roles and ports', async () => {
    expect(await checked(proofOf({ PORT: '9000', ROLES: 'receiver', LOG_LEVEL: 'warn' }).answer)).toMatch(
      /^ok: .* with these settings$/,
    );
  });

  test.each<[string, (nonce: string) => string | undefined]>([
    ['one with another key', proofOf({ SECRET_KEY: OTHER_KEY }).answer],
    ['another program', () => undefined],
    ['one that repeats an earlier proof', () => proofOf().answer('0123456789abcdef0123')],
  ])('%s is a fault', async (_what, answerTo) => {
    expect(await checked(answerTo)).toMatch(/^fault: .* leads to another program: .*SECRET_KEY/);
  });

  test.each<[string, Record<string, string>]>([
    ['another bot', { WECOM_BOT_TOKEN: 'Another1' }],
    ['another address', { PUBLIC_URL: 'https://other.example.org' }],
    ['another chat service', { CHAT_BASE_URL: 'https://other.example.org/v1' }],
  ])('is a warning to restart if it was started for %s', async (_what, change) => {
    expect(await checked(proofOf(change).answer)).toMatch(/^warning: .*started with other settings/);
  });

  test('is accepted with either key during a key change', async () => {
    const changed = proofOf({ SECRET_KEY: OTHER_KEY, SECRET_KEY_PREVIOUS: SERVING['SECRET_KEY'] ?? '' });
    expect(await checked(proofOf().answer, changed.judge)).toMatch(/^ok/);
  });
});

describe('the port check of npm run check', () => {
  const portsOf = async (change: Record<string, string>) => {
    const { config, secrets } = loadSound({ ...SERVING, HOST: '127.0.0.1', ...change });
    const [result] = await checkPorts(config, proofOfConfiguration(config, secrets).judge);
    return `${result?.verdict ?? ''}: ${result?.detail ?? ''}`;
  };

  test('accepts free ports', async () => {
    const PORT = String(await freePort());
    expect(await portsOf({ PORT })).toBe(`ok: free: PORT ${PORT}`);
  });

  test('reports an address that is not of this machine', async () => {
    expect(await portsOf({ PORT: String(await freePort()), HOST: '192.0.2.1' })).toBe(
      'fault: HOST 192.0.2.1 is not an address of this machine',
    );
  });

  test('distinguishes its own port, one of another program, and one of an earlier start', async () => {
    const own = await serving(proofOf().answer);
    expect(await portsOf({ PORT: String(own.port) })).toMatch(/^ok: Parley runs on PORT \d+ with these settings$/);
    const earlier = await serving(proofOf({ WECOM_BOT_TOKEN: 'Another1' }).answer);
    expect(await portsOf({ PORT: String(earlier.port) })).toMatch(/^warning: .*started with other settings/);
    const other = await serving(() => undefined);
    expect(await portsOf({ PORT: String(other.port) })).toMatch(/^fault: PORT \d+ is taken by node \(process \d+\)$/);
  });
});
