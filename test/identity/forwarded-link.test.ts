import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { personKey } from '../../src/identity/account.ts';
import { keys } from '../../src/identity/store.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { ATTACKS, type Attack } from './attacks.ts';
import { startIdentityFixture, type IdentityFixture } from './identity-fixture.ts';

/** Of each kind, spread over the deployments. */
/** 200 of each kind by `npm run test:long`. */
const ATTEMPTS = Number(process.env['ATTEMPTS'] ?? (process.env['TEST_LONG'] ? 200 : 15));
/** Set to repeat a failure. */
const SEED = process.env['ATTEMPTS_SEED'] ?? randomBytes(4).toString('hex');

const DEPLOYMENTS = (['required', 'absent'] as const).flatMap((state) =>
  ([['same-browser'], ['same-id'], ['same-browser', 'same-id']] as const).map((proof) => ({ state, proof })),
);

let server: TestRedis;
let fixtures: IdentityFixture[] = [];
beforeAll(async () => {
  server = await startTestRedis();
  fixtures = [];
  for (const signIn of DEPLOYMENTS) {
    const fixture = await startIdentityFixture(server.redis, { signIn });
    fixture.service.echoesState = signIn.state === 'required';
    fixtures.push(fixture);
  }
});
afterAll(async () => {
  await Promise.all(fixtures.map((fixture) => fixture.close()));
  await server.stop();
});

describe('a forwarded link [proof-of-person]', () => {
  for (const [index, [kind, attack]] of Object.entries(ATTACKS).entries()) {
    test(
      `${kind}: ${ATTEMPTS} random attempts, no link, and the owner is told once of somebody else`,
      async () => {
        const attempts = fixtures.map(async (fixture, first) => {
          for (let count = first; count < ATTEMPTS; count += fixtures.length)
            await attempt(fixture, { kind, attack, name: `${index}-${count}` });
        });
        await Promise.all(attempts);
        expect(await server.redis.keys(keys.link('*'))).toEqual([]);
      },
      60_000 + ATTEMPTS * 100,
    );
  }

  async function attempt(
    fixture: IdentityFixture,
    { kind, attack, name }: { kind: string; attack: Attack; name: string },
  ) {
    const [owner, other] = [`owner-${name}`, `other-${name}`];
    try {
      const told = await attack({ fixture, random: seededRandom(`${SEED} ${name}`), owner, other });
      for (const person of [owner, other]) expect(await linkOf(fixture, person)).toBe(0);
      const notices = fixture.notices.splice(0);
      expect(notices.map(({ person, notice }) => [person.chatUserId, notice.kind])).toEqual(
        told === 1 ? [[owner, 'someone-else-signed-in']] : [],
      );
    } catch (cause) {
      const { state, proof } = fixture.options.signIn;
      const where = `state ${state}, proof ${proof.join('+')}`;
      throw new Error(`${kind}, attempt ${name}, ${where}; repeat with ATTEMPTS_SEED=${SEED}`, { cause });
    }
  }

  const linkOf = (fixture: IdentityFixture, chatUserId: string) =>
    server.redis.exists(keys.link(personKey({ ...fixture.owner, chatUserId })));
});
