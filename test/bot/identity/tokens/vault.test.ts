import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { KeyRing } from '../../../../src/shared/crypto/key-ring.ts';
import { createVault } from '../../../../src/bot/identity/tokens/vault.ts';
import type { PlatformName } from '../../../../src/bot/domain/platform-name.ts';
import { tries } from '../../../support/tries.ts';

const keyRing = new KeyRing([randomBytes(32)]);
const vault = createVault(keyRing);
const tokens = { refreshToken: 'RT', accessToken: 'AT' };
const person = { platform: 'wecom', tenant: 'corp', app: 'bot', chatUserId: '20001' } as const;

describe('an encrypted token record [sealed-records]', () => {
  test('is bound to purpose, platform, tenant, app, chat user id, provider and version, in this order', () => {
    const fields = ['tokens', 'wecom', 'corp', 'bot', '20001', 'sign-in-service', '7'];
    const sealed = keyRing.sealRecord(fields, JSON.stringify(tokens));
    expect(vault.open({ purpose: 'tokens', person, version: 7 }, sealed)).toEqual({ kind: 'opened', value: tokens });
    expect(sealed.split('.')).toHaveLength(6);
  });

  const record = fc.record({
    purpose: fc.constantFrom('tokens' as const, 'profile' as const),
    version: fc.constantFrom(1, 11, '1', 'a'),
    person: fc.record({
      platform: fc.constantFrom<PlatformName>('wecom', 'other' as PlatformName),
      tenant: fc.constantFrom('a', 'b', 'a|1:b'),
      app: fc.constantFrom('a', 'b', '|'),
      chatUserId: fc.constantFrom('a', 'b', '1:a'),
    }),
  });
  const nameOf = ({ purpose, person: owner, version }: typeof record extends fc.Arbitrary<infer T> ? T : never) =>
    JSON.stringify([purpose, owner.platform, owner.tenant, owner.app, owner.chatUserId, String(version)]);

  test('cannot be decrypted for another purpose, person or version', () => {
    fc.assert(
      fc.property(record, record, (mine, other) => {
        const sealed = vault.seal({ ...mine, purpose: 'tokens' }, tokens);
        const isSame = nameOf({ ...mine, purpose: 'tokens' }) === nameOf(other);
        const opened = vault.open(other, sealed);
        if (isSame) expect(opened).toEqual({ kind: 'opened', value: tokens });
        else expect(opened.kind).toBe('broken');
      }),
      { numRuns: tries(300) },
    );
  });
});
