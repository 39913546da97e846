import { expect, test } from '@jest/globals';
import { IdentityError } from '../../../src/bot/identity/identity-error.ts';
import type { Identity } from '../../../src/bot/identity/identity.ts';
import type { TurnContext } from '../../../src/bot/turn/turn-context.ts';
import { createTakeTypedCode } from '../../../src/bot/turn/typed-codes.ts';
import { testKeyRing, textMessage } from '../../support/messages.ts';
import { recordingLog } from '../../support/redis.ts';
import { useIdentityFixture } from './use-identity-fixture.ts';

const { fixture, open: start } = useIdentityFixture();

async function openWithAwaitedCode(): Promise<void> {
  await start({ signIn: { proof: ['typed-code'] } });
  await fixture.walk(fixture.browser('20001'), await fixture.link('20001'));
}

/** As much of a turn's context as the step reads. */
function contextOf(text: string, turnId: string, chatUserId = '20001'): TurnContext {
  const newest = textMessage(text, { sender: { userId: chatUserId } });
  const turn = { turnId, history: [], conversation: { id: 'c', partition: 1 } };
  return {
    newest,
    turn,
    question: { language: 'en' },
    preferences: {},
    platform: { name: 'wecom' },
  } as unknown as TurnContext;
}

test('a worker that dies after the try was counted: the turn runs again, and says the same [dies-anywhere]', async () => {
  await openWithAwaitedCode();
  const take = createTakeTypedCode({ identity: fixture.identity, keyRing: testKeyRing(), log: recordingLog().log });
  const first = await take(contextOf('A1B2-C3D4', 'turn-1'));
  expect(first).toEqual({ kind: 'sign-in', text: expect.stringContaining('you have 4 tries left') });
  expect(await take(contextOf('A1B2-C3D4', 'turn-1'))).toEqual(first);
  expect((await take(contextOf('A1B2-C3D4', 'turn-2')))?.text).toContain('you have 3 tries left');
});

test('an error inside ends the turn without history, a store that is away gives it back [typed-code]', async () => {
  await openWithAwaitedCode();
  const { log, lines } = recordingLog();
  const failing = (error: Error) =>
    createTakeTypedCode({
      identity: { ...fixture.identity, takeTypedCode: () => Promise.reject(error) } satisfies Identity,
      keyRing: testKeyRing(),
      log,
    });
  const context = contextOf('A1B2-C3D4', 'turn-1');
  const outcome = await failing(new Error('something unforeseen'))(context);
  expect(outcome).toEqual({ kind: 'sign-in', text: 'I could not check the code just now. Please send it again.' });
  expect(lines.join()).not.toContain('A1B2');
  await expect(failing(new IdentityError('store_away', 'away'))(context)).rejects.toMatchObject({ code: 'store_away' });
});

test('without sign-in nothing is taken', async () => {
  await openWithAwaitedCode();
  const take = createTakeTypedCode({ identity: undefined, keyRing: testKeyRing(), log: recordingLog().log });
  expect(await take(contextOf('A1B2-C3D4', 'turn-1'))).toBeUndefined();
});
