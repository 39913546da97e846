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

/** The part of a turn's context that the step reads. */
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

test('a turn that is repeated after a crash counts its try once and gives the same reply [dies-anywhere]', async () => {
  await openWithAwaitedCode();
  const take = createTakeTypedCode({ identity: fixture.identity, keyRing: testKeyRing(), log: recordingLog().log });
  const first = await take(contextOf('A1B2-C3D4', 'turn-1'));
  expect(first).toEqual({ kind: 'sign-in', text: expect.stringContaining('you have 4 tries left') });
  expect(await take(contextOf('A1B2-C3D4', 'turn-1'))).toEqual(first);
  expect((await take(contextOf('A1B2-C3D4', 'turn-2')))?.text).toContain('you have 3 tries left');
});

test('an unexpected error ends the turn without history, and a store failure returns it to the queue [typed-code]', async () => {
  await openWithAwaitedCode();
  const { log, lines } = recordingLog();
  const failing = (error: Error) =>
    createTakeTypedCode({
      identity: { ...fixture.identity, redeemTypedCode: () => Promise.reject(error) } satisfies Identity,
      keyRing: testKeyRing(),
      log,
    });
  const context = contextOf('A1B2-C3D4', 'turn-1');
  const outcome = await failing(new Error('something unforeseen'))(context);
  expect(outcome).toEqual({ kind: 'sign-in', text: 'I could not check the code. Please send it again.' });
  expect(lines.join()).not.toContain('A1B2');
  await expect(failing(new IdentityError('store_away', 'away'))(context)).rejects.toMatchObject({ code: 'store_away' });
});

test('takes no code if sign-in is off', async () => {
  await openWithAwaitedCode();
  const take = createTakeTypedCode({ identity: undefined, keyRing: testKeyRing(), log: recordingLog().log });
  expect(await take(contextOf('A1B2-C3D4', 'turn-1'))).toBeUndefined();
});
