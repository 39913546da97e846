import { randomBytes } from 'node:crypto';
import { beforeEach, expect, test } from '@jest/globals';
import { KeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { createIdentity, type Identity } from '../../../src/bot/identity/identity.ts';
import type { Answer, TestBrowser } from './test-browser.ts';
import { useIdentityFixture } from './use-identity-fixture.ts';

// A code is shown, the service restarts with a new key before the old one, and the code is typed.

const [OLD, NEW] = [randomBytes(32), randomBytes(32)];
const { fixture, open: start } = useIdentityFixture();
let after: Identity;
beforeEach(async () => {
  await start({
    signIn: { proof: ['typed-code'] },
    identity: { keyRing: new KeyRing([OLD]) },
  });
  after = createIdentity({ ...fixture.options, keyRing: new KeyRing([NEW, OLD]) });
});

const codeOn = ({ text }: Answer) => /[0-9A-Z]{4}-[0-9A-Z]{4}/.exec(text)?.[0] ?? 'none';
let messages = 0;
const type = (chatUserId: string, text: string, chatKind: 'private' | 'group' = 'private') =>
  after.redeemTypedCode({ owner: fixture.owner, chatUserId, chatKind, text, messageId: `message-${(messages += 1)}` });
async function showCode(): Promise<{ browser: TestBrowser; code: string }> {
  const browser = fixture.browser('zhang-san');
  const code = codeOn(await fixture.walk(browser, await fixture.link('zhang-san', true)));
  fixture.serve(after);
  return { browser, code };
}

test('a code from before a change of keys is shown again, links, and is recognised when typed twice [key-rotation]', async () => {
  const { browser, code } = await showCode();
  expect(codeOn(await browser.get(`${fixture.url}/sign-in/confirm`))).toBe(code);
  expect(await type('zhang-san', code)).toMatchObject({ kind: 'linked' });
  expect(await type('zhang-san', code)).toMatchObject({ kind: 'linked' });
});

test('after a change of keys, a wrong code counts as one try and the right code links [typed-code]', async () => {
  const { code } = await showCode();
  expect(await type('zhang-san', `${code.slice(0, 8)}${code.endsWith('A') ? 'B' : 'A'}`)).toMatchObject({
    kind: 'wrong',
    triesLeft: 4,
  });
  expect(await type('zhang-san', code)).toMatchObject({ kind: 'linked' });
});

test('a code from before a change of keys still revokes its ticket if it comes from another person [typed-code]', async () => {
  const { code } = await showCode();
  expect(await type('li-si', code)).toMatchObject({ kind: 'not-awaited' });
  expect(fixture.notices.map(({ notice }) => notice.kind)).toContain('someone-else-signed-in');
  expect(await type('zhang-san', code)).toMatchObject({ kind: 'not-awaited' });
});
