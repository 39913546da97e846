import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { KeyRing } from '../../../../src/shared/crypto/key-ring.ts';
import { openTurns, sealTurn, type HistoryTurn } from '../../../../src/bot/turn/conversation/history.ts';
import { anyTurn, turnOf } from './turns.ts';
import { asConversationId, asDeliveryId } from '../../../../src/bot/domain/ids.ts';

const C1 = asConversationId('c1');
const C2 = asConversationId('c2');
const key = randomBytes(32);
const keyRing = new KeyRing([key]);

test('encrypted turns decrypt unchanged and in order, and reveal nothing', () => {
  fc.assert(
    fc.property(fc.array(anyTurn, { maxLength: 5 }), (turns) => {
      const sealed = turns.map((turn) => sealTurn(keyRing, C1, turn));
      expect(openTurns(keyRing, C1, sealed)).toEqual(turns);
    }),
  );
  expect(sealTurn(keyRing, C1, turnOf({ userText: 'canary' }))).not.toContain('canary');
});

test('a turn does not decrypt in another conversation', () => {
  expect(openTurns(keyRing, C2, [sealTurn(keyRing, C1, turnOf())])).toEqual([]);
});

test('records of a lost key or another version, and broken ones, are skipped and counted [key-rotation]', () => {
  const lost = sealTurn(new KeyRing([randomBytes(32)]), C1, turnOf());
  const later = sealTurn(keyRing, C1, { ...turnOf(), version: 2 } as unknown as HistoryTurn);
  const odd = keyRing.seal('history', C1, 'no json');
  const empty = keyRing.seal('history', C1, 'null');
  const kept = turnOf({ turnId: asDeliveryId('kept') });
  const skipped: number[] = [];
  const records = [lost, later, sealTurn(keyRing, C1, kept), odd, empty, '', 'junk'];
  expect(openTurns(keyRing, C1, records, (count) => void skipped.push(count))).toEqual([kept]);
  expect(skipped).toEqual([6]);
});

test('turns encrypted before a key rotation still decrypt', () => {
  const sealed = sealTurn(keyRing, C1, turnOf());
  expect(openTurns(new KeyRing([randomBytes(32), key]), C1, [sealed])).toEqual([turnOf()]);
});
