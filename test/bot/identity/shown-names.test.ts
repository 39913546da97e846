import { expect, test } from '@jest/globals';
import type { Platform } from '../../../src/bot/platforms/platform.ts';
import { TestBrowser } from './test-browser.ts';
import { useIdentityFixture } from './use-identity-fixture.ts';

const { server, fixture, open: start } = useIdentityFixture();

/** Requests a link like a platform whose messages contain no names. */
async function askFor(chatUserId: string, displayNameOf: Platform['displayNameOf']): Promise<string> {
  await start({ platform: displayNameOf ? { displayNameOf } : {} });
  const asked = await fixture.identity.inviteToSignIn({ ...fixture.owner, chatUserId, language: 'en' });
  if (asked.kind !== 'invited') throw new Error(asked.kind);
  return asked.url;
}

/** Returns the page behind the link once the name is stored, which happens in the background. */
async function landingWith(link: string, words: string): Promise<string> {
  let text = '';
  for (let tries = 0; tries < 200 && !text.includes(words); tries += 1) text = (await new TestBrowser().get(link)).text;
  return text;
}

test('pages show the display name of the chat account, and Redis stores it encrypted', async () => {
  const link = await askFor('20001', (userId) => Promise.resolve(userId === '20001' ? '\u202EZoë 张 <b>' : 'else'));
  const shown = '<strong class="name" dir="auto">Zoë 张 &lt;b&gt;</strong>';
  expect(await landingWith(link, shown)).toContain(shown);
  const confirm = await fixture.walkToConfirm(fixture.browser('20001', '20001'), link);
  expect(confirm.text).toContain(shown);
  expect(confirm.text).toContain('2•••1');
  const [key = ''] = await server.redis.keys('{id}:ticket:*');
  expect(JSON.stringify(await server.redis.hgetall(key))).not.toMatch(/Zoë|张/);
});

test.each<[string, Platform['displayNameOf']]>([
  ['never answers', () => new Promise(() => undefined)],
  ['does not tell', () => Promise.resolve(undefined)],
  ['fails', () => Promise.reject(new Error('no'))],
  ['has no such call', undefined],
])('a platform that %s causes no delay: the page shows the masked id', async (_, displayNameOf) => {
  const link = await askFor('20001', displayNameOf);
  const confirm = await fixture.walkToConfirm(fixture.browser('20001', '20001'), link);
  expect(confirm.text).toContain('<strong class="name" dir="auto">2•••1</strong>');
  expect((await fixture.browser('20001', '20001').get(link)).status).toBe(410);
});

test('a name that arrives after the ticket has expired is not stored', async () => {
  let tell = (_name: string): void => undefined;
  await askFor('20001', () => new Promise((resolve) => (tell = resolve)));
  await server.redis.del(...(await server.redis.keys('{id}:ticket:*')));
  tell('Zoë');
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await server.redis.keys('{id}:ticket:*')).toEqual([]);
});
