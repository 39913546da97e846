import { describe, expect, test } from '@jest/globals';
import { CALLBACK, exchange, getProfile, obtainCode } from '../support.ts';
import { useTestService } from '../use-test-service.ts';

const { service } = useTestService();

const refresh = (refreshToken: unknown) =>
  exchange(service, '', { grant_type: 'refresh_token', refresh_token: String(refreshToken) });

describe('the life of a code, row by row [authorization-code]', () => {
  test('"(none) → code issued": successful authentication and consent give a code of 43 random letters [authorization-code]', async () => {
    expect(await obtainCode(service)).toMatch(/^[\w-]{43}$/);
  });

  test.each([0, 1, 9_999])(
    '"code issued → code used": within 10 seconds (%d ms), the first use returns an access token [authorization-code]',
    async (ageMs) => {
      const code = await obtainCode(service);
      service.clock.ms += ageMs;
      const { status, body } = await exchange(service, code);
      expect([status, typeof body.access_token]).toEqual([200, 'string']);
    },
  );

  test.each([10_000, 10_001, 60_000, 3_600_000])(
    '"code issued → code expired": unused after %d ms it can no longer be used, however often it is tried [authorization-code]',
    async (ageMs) => {
      const code = await obtainCode(service);
      service.clock.ms += ageMs;
      for (let round = 0; round < 2; round += 1) {
        const { status, body } = await exchange(service, code);
        expect([status, body.error]).toEqual([400, 'invalid_grant']);
        expect(body.error_description).toBe('The code is older than 10 seconds');
      }
    },
  );

  test('"code used → unusable": any further exchange fails and revokes the tokens of the first one (RFC 6749 4.1.2) [authorization-code]', async () => {
    const code = await obtainCode(service);
    const first = (await exchange(service, code)).body;
    const later = (await refresh(first.refresh_token)).body;
    service.clock.ms += 3_600_000;
    const second = await exchange(service, code);
    expect([second.status, second.body.error]).toEqual([400, 'invalid_grant']);
    expect(second.body.error_description).toBe('The code was already used; its tokens are now revoked');
    for (const token of [first.access_token, later.access_token])
      expect((await getProfile(service, token)).status).toBe(401);
    expect((await refresh(first.refresh_token)).body.error).toBe('invalid_grant');
    expect((await exchange(service, code)).body.error).toBe('invalid_grant');
  });

  test('"authorization code lifetime 10 seconds; single use": of 12 concurrent exchanges exactly one succeeds, and the others revoke it [chat-limits]', async () => {
    const code = await obtainCode(service);
    const answers = await Promise.all(Array.from({ length: 12 }, () => exchange(service, code)));
    const [won, ...more] = answers.filter(({ status }) => status === 200);
    expect(more).toEqual([]);
    expect(answers.filter(({ body }) => body.error === 'invalid_grant')).toHaveLength(11);
    expect((await getProfile(service, won?.body.access_token)).status).toBe(401);
    expect((await refresh(won?.body.refresh_token)).body.error).toBe('invalid_grant');
  });
});

describe('error descriptions of refused exchanges', () => {
  test.each([
    ['redirect_uri', { redirect_uri: `${CALLBACK}/` }, 'redirect_uri differs from that of the authorization request'],
    ['code_verifier', { code_verifier: 'v'.repeat(43) }, 'code_verifier does not match the challenge'],
  ])('say for a wrong %s that the code is now invalid, and mention no revocation', async (_, changes, words) => {
    const code = await obtainCode(service);
    const wrong = await exchange(service, code, changes);
    expect(wrong.body.error_description).toBe(`${words}; the code is now invalid`);
    const right = await exchange(service, code);
    expect(right.body).toEqual({
      error: 'invalid_grant',
      error_description: 'The code became invalid when an earlier exchange was refused',
    });
  });

  test('another client neither uses a code up nor revokes its tokens', async () => {
    const code = await obtainCode(service);
    const stranger = { client_id: 'other', client_secret: 'other-secret' };
    const tryStranger = async () => (await exchange(service, code, stranger)).body;
    expect(await tryStranger()).toEqual({
      error: 'invalid_grant',
      error_description: 'The code was issued to another client',
    });
    const { status, body } = await exchange(service, code);
    expect(status).toBe(200);
    expect((await tryStranger()).error).toBe('invalid_grant');
    expect((await getProfile(service, body.access_token)).status).toBe(200);
  });
});
