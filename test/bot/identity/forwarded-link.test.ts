import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { personKey } from '../../../src/bot/identity/account.ts';
import { keys } from '../../../src/bot/identity/store.ts';
import { startTestRedis, type TestRedis } from '../../support/redis.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { testTier } from '../../support/tries.ts';
import { ATTACKS, type Attack } from './attacks.ts';
import { DIALECTS, startProviderOf } from './providers/dialects.ts';
import { slackChat, startSlackStandIn } from './slack-stand-in.ts';
import { startIdentityFixture, type IdentityFixture } from './identity-fixture.ts';

/** Attempts per kind, spread over the deployments. `npm run test:long` makes 200. */
const ATTEMPTS = Number(process.env['ATTEMPTS'] ?? (testTier() === 'long' ? 200 : 28));
/** Set ATTEMPTS_SEED to repeat a failure. */
const SEED = process.env['ATTEMPTS_SEED'] ?? randomBytes(4).toString('hex');

const PROOFS = [['same-browser'], ['same-id'], ['same-browser', 'same-id']] as const;
const DEPLOYMENTS = (['required', 'absent'] as const).flatMap((state) => PROOFS.map((proof) => ({ state, proof })));

let server: TestRedis;
let fixtures: IdentityFixture[] = [];
let providers: { close(): Promise<void> }[] = [];
beforeAll(async () => {
  server = await startTestRedis();
  [fixtures, providers] = [[], []];
  for (const signIn of DEPLOYMENTS) {
    const fixture = await startIdentityFixture(server.redis, { signIn });
    fixture.service.echoesState = signIn.state === 'required';
    fixtures.push(fixture);
  }
  // The other providers always return `state`.
  for (const type of DIALECTS) {
    const provider = await startProviderOf(type);
    if (!provider) continue;
    providers.push(provider);
    for (const proof of PROOFS)
      fixtures.push(await startIdentityFixture(server.redis, { provider, signIn: { type, proof } }));
  }
  const slack = await startSlackStandIn();
  providers.push(slack);
  for (const proof of PROOFS.filter((proof) => proof.some((one) => one === 'same-browser')))
    fixtures.push(await startIdentityFixture(server.redis, { messagingApp: slackChat(slack), signIn: { proof } }));
});
afterAll(async () => {
  await Promise.all([...fixtures, ...providers].map((one) => one.close()));
  await server.stop();
});

describe('a forwarded link, with each sign-in provider and each web sign-in [proof-of-person] [same-for-all-dialects]', () => {
  for (const [index, [kind, attack]] of Object.entries(ATTACKS).entries()) {
    test(
      `${kind}: ${ATTEMPTS} random attempts link nothing, and the owner is notified at most once each`,
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
      const { service, rules } = fixture.options.signIn;
      const where = `${fixture.platform.name}, ${service.type ?? 'oauth2'}, state ${service.state}, proof ${rules.proof.join('+')}`;
      throw new Error(`${kind}, attempt ${name}, ${where}; repeat with ATTEMPTS_SEED=${SEED}`, { cause });
    }
  }

  const linkOf = (fixture: IdentityFixture, chatUserId: string) =>
    server.redis.exists(keys.link(personKey({ ...fixture.owner, chatUserId })));
});
