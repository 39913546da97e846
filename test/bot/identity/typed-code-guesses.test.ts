import { expect, test } from '@jest/globals';
import { useIdentityFixture } from './use-identity-fixture.ts';

const { fixture, open } = useIdentityFixture();

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
let messages = 0;

function type(chatUserId: string, text: string) {
  const message = { owner: fixture.owner, chatUserId, chatKind: 'private' as const, text };
  return fixture.identity.redeemTypedCode({ ...message, messageId: `message-${(messages += 1)}` });
}

async function codeFor(chatUserId: string, signsInAs: string): Promise<string> {
  const page = await fixture.walk(fixture.browser(signsInAs), await fixture.link(chatUserId, true));
  return /[0-9A-Z]{4}-[0-9A-Z]{4}/.exec(page.text)?.[0] ?? '';
}

test('31 parallel guesses of one person in separate messages share one budget of five [typed-code]', async () => {
  await open({ signIn: { proof: ['typed-code'] } });
  const code = await codeFor('mallory', 'victim');
  const bystander = await codeFor('eve', 'another');
  const guesses = [...ALPHABET].map((letter) => `${code.slice(0, 8)}${letter}`).filter((guess) => guess !== code);
  expect(guesses).toHaveLength(31);
  const outcomes = await Promise.all(guesses.map((guess) => type('mallory', guess)));
  expect(outcomes.filter((outcome) => outcome?.kind === 'wrong')).toHaveLength(5);
  expect((await type('mallory', code))?.kind).toBe('not-awaited');
  expect(await fixture.identity.accountOf(fixture.owner, 'mallory')).toBeUndefined();
  expect((await type('eve', bystander))?.kind).toBe('linked');
});
