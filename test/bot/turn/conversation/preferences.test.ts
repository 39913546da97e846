import { describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { KeyRing } from '../../../../src/shared/crypto/key-ring.ts';
import {
  openPreferences,
  sealPreferences,
  type Preferences,
} from '../../../../src/bot/turn/conversation/preferences.ts';
import { testKeyRing, textMessage } from '../../../support/messages.ts';

const keyRing = testKeyRing();
const message = textMessage('x');
const kept = (change: ReturnType<typeof sealPreferences>) => ({ [change.field]: change.sealed });
const CHOICE: Preferences = { model: 'svc-max', thinking: 'high', language: 'zh' };

describe('a person’s encrypted preferences', () => {
  test('decrypt unchanged and contain nothing readable', () => {
    fc.assert(
      fc.property(
        fc.record(
          {
            model: fc.string(),
            thinking: fc.constantFrom('off' as const, 'low' as const, 'high' as const, 'max' as const),
            language: fc.constantFrom('en' as const, 'zh' as const),
          },
          { requiredKeys: [] },
        ),
        (choice) => {
          expect(openPreferences(keyRing, kept(sealPreferences(keyRing, message, choice)), message)).toEqual(choice);
        },
      ),
    );
    expect(JSON.stringify(sealPreferences(keyRing, message, CHOICE))).not.toContain('svc');
  });

  test('apply in the threads of their chat, and in no other chat', () => {
    const sealed = kept(sealPreferences(keyRing, message, CHOICE));
    const inThread = { ...message, chat: { ...message.chat, threadId: '17.1' } };
    const elsewhere = { ...message, chat: { kind: 'group' as const, id: message.chat.id } };
    expect(openPreferences(keyRing, sealed, inThread)).toEqual(CHOICE);
    expect(openPreferences(keyRing, sealed, elsewhere)).toEqual({});
  });

  test('are ignored when undecryptable, moved to another person or invalid [key-rotation]', () => {
    const change = sealPreferences(keyRing, message, CHOICE);
    const bob = { ...message, sender: { userId: 'bob' } };
    expect(openPreferences(new KeyRing([randomBytes(32)]), kept(change), message)).toEqual({});
    expect(openPreferences(keyRing, kept(change), bob)).toEqual({});
    const odd = { model: 7, thinking: 'extreme', language: 'fr' } as unknown as Preferences;
    expect(openPreferences(keyRing, kept(sealPreferences(keyRing, message, odd)), message)).toEqual({});
    expect(openPreferences(keyRing, { [change.field]: 'rubbish' }, message)).toEqual({});
  });
});
