import { createModelCatalog } from '../src/shared/models/model-catalog.ts';
import { createLog } from '../src/shared/log.ts';
import { connectRedis } from '../src/shared/redis/redis.ts';
import type { ServicePerson } from '../src/service/directory-file.ts';
import { startService } from '../src/service/start-service.ts';
import { asAccountId, type AccountId } from '../src/bot/domain/ids.ts';

/** The real sign-in service, in the testbed's own process, with an account for each person of the testbed. */
export interface SignInService {
  /** Settings of the bot as its client. */
  env: Record<string, string>;
  close(): Promise<void>;
}

const CLIENT = { clientId: 'chaos-bot', clientSecret: 'chaos-client-secret', name: 'Parley' };
/** More people than the traffic has at 20 messages per second. */
const ACCOUNTS = 2_000;

/** @param publicUrl address of the bot's own pages */
export async function startSignInService(redisPort: number, publicUrl: string): Promise<SignInService> {
  const log = createLog({ level: 'fatal', format: 'json' });
  const redis = connectRedis({ urls: [`redis://127.0.0.1:${redisPort}`] }, 'wait', log, 'service');
  const service = await startService({
    address: { port: 0, host: '127.0.0.1' },
    files: {
      models: createModelCatalog([]),
      clients: [{ ...CLIENT, redirectUris: [`${publicUrl}/oauth/callback`] }],
      directory: Array.from({ length: ACCOUNTS }, (_, index) => personOf(index + 1)),
    },
    chat: { apiKeys: [] },
    engine: { docsDir: process.cwd() },
    signIn: { accessTokenSec: 7_200, refreshTokenSec: 86_400 },
    ...{ redis, log, nowMs: Date.now },
  });
  return {
    env: {
      SIGN_IN: 'required',
      SIGN_IN_URL: service.url,
      SIGN_IN_CLIENT_ID: CLIENT.clientId,
      SIGN_IN_CLIENT_SECRET: CLIENT.clientSecret,
      SIGN_IN_PROOF: 'typed-code',
      TRUSTED_PROXY_HOPS: '1',
    },
    async close() {
      await service.close();
      redis.disconnect();
    },
  };
}

/** Account id of a conversation's person. */
export function accountIdOf(conversation: number): AccountId {
  return asAccountId(`2030${conversation}`);
}

/** Credentials of that person. */
export function loginOf(conversation: number): { username: string; password: string } {
  return { username: `person${conversation}`, password: `quiet-river-${conversation}` };
}

function personOf(conversation: number): ServicePerson {
  const { username, password } = loginOf(conversation);
  const id = accountIdOf(conversation);
  return {
    username,
    password: `plain:${password}`,
    messaging: {},
    profile: {
      ...{ id, active: true, parentIdentityInfo: { name: 'Staff', code: 'JG' } },
      attributes: { BMBM: '1', BMMC: 'Rig', XGH: id, XM: `Person ${conversation}`, objectId: id },
    },
  };
}
