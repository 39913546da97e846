import { KeyRing } from '../../src/shared/crypto/key-ring.ts';
import type { RedisClient } from '../../src/shared/redis/redis.ts';
import { personKey, type ChatPerson } from '../../src/bot/identity/account.ts';
import { keys } from '../../src/bot/identity/store.ts';
import { fieldArguments, sealWho } from '../../src/bot/identity/links/stored-link.ts';
import { createVault } from '../../src/bot/identity/tokens/vault.ts';

export interface SignedInAs {
  accountKey: string;
  id: string;
  name?: string;
  identityCode?: string;
  department?: string;
  departmentName?: string;
}

/** A chat person with the default tenant and app names of a deployment's bot. */
export function personOf(platform: 'wecom' | 'slack', chatUserId: string): ChatPerson {
  return { platform, tenant: platform, app: platform === 'wecom' ? 'aibot' : 'bot', chatUserId };
}

/** Links a chat person to an account, like a completed sign-in. @param env the bot's settings */
export async function storeSignIn(
  { redis, env }: { redis: RedisClient; env: Record<string, string> },
  person: ChatPerson,
  { accountKey, ...account }: SignedInAs,
): Promise<void> {
  const keyRing = new KeyRing([Buffer.from(env['SECRET_KEY'] ?? '', 'base64')]);
  const profile = {
    name: 'N',
    isActive: true,
    identityCode: 'JG',
    department: '',
    departmentName: '',
    ...account,
  };
  const sealed = createVault(keyRing).seal({ purpose: 'profile', person, version: 1 }, profile as never);
  const fields = {
    accountKey,
    who: sealWho(keyRing, person),
    profile: sealed,
    profileVersion: 1,
    status: 'active' as const,
  };
  await redis.hset(keys.link(personKey(person)), ...(fieldArguments(fields) as [string, string]));
}
