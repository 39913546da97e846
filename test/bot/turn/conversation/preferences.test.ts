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

describe('what a person chose', () => {
  test('opens as it was sealed, and holds nothing readable', () => {
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

  test('holds in the threads of its chat, and in no other chat', () => {
    const sealed = kept(sealPreferences(keyRing, message, CHOICE));
    const inThread = { ...message, chat: { ...message.chat, threadId: '17.1' } };
    const elsewhere = { ...message, chat: { kind: 'group' as const, id: message.chat.id } };
    expect(openPreferences(keyRing, sealed, inThread)).toEqual(CHOICE);
    expect(openPreferences(keyRing, sealed, elsewhere)).toEqual({});
  });

  test('what no key opens, was moved to another person, or makes no sense counts as nothing [key-rotation]', () => {
    const change = sealPreferences(keyRing, message, CHOICE);
    const bob = { ...message, sender: { userId: 'bob' } };
    expect(openPreferences(new KeyRing([randomBytes(32)]), kept(change), message)).toEqual({});
    expect(openPreferences(keyRing, kept(change), bob)).toEqual({});
    const odd = { model: 7, thinking: 'extreme', language: 'fr' } as unknown as Preferences;
    expect(openPreferences(keyRing, kept(sealPreferences(keyRing, message, odd)), message)).toEqual({});
    expect(openPreferences(keyRing, { [change.field]: 'rubbish' }, message)).toEqual({});
  });
});
