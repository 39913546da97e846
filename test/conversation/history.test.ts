import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { KeyRing } from '../../src/base/key-ring.ts';
import { openTurns, sealTurn, type HistoryTurn } from '../../src/conversation/history.ts';
import { anyTurn, turnOf } from './turns.ts';

const key = randomBytes(32);
const keyRing = new KeyRing([key]);

test('sealed turns open as they were, in their order, and show nothing', () => {
  fc.assert(
    fc.property(fc.array(anyTurn, { maxLength: 5 }), (turns) => {
      const sealed = turns.map((turn) => sealTurn(keyRing, 'c1', turn));
      expect(openTurns(keyRing, 'c1', sealed)).toEqual(turns);
    }),
  );
  expect(sealTurn(keyRing, 'c1', turnOf({ userText: 'canary' }))).not.toContain('canary');
});

test('a turn does not open in another conversation', () => {
  expect(openTurns(keyRing, 'c2', [sealTurn(keyRing, 'c1', turnOf())])).toEqual([]);
});

test('records of a lost key, of another version or broken ones are skipped and counted [key-rotation]', () => {
  const lost = sealTurn(new KeyRing([randomBytes(32)]), 'c1', turnOf());
  const later = sealTurn(keyRing, 'c1', { ...turnOf(), version: 2 } as unknown as HistoryTurn);
  const odd = keyRing.seal('history', 'c1', 'no json');
  const empty = keyRing.seal('history', 'c1', 'null');
  const kept = turnOf({ turnId: 'kept' });
  const skipped: number[] = [];
  const records = [lost, later, sealTurn(keyRing, 'c1', kept), odd, empty, '', 'junk'];
  expect(openTurns(keyRing, 'c1', records, (count) => void skipped.push(count))).toEqual([kept]);
  expect(skipped).toEqual([6]);
});

test('turns sealed before a key was changed still open', () => {
  const sealed = sealTurn(keyRing, 'c1', turnOf());
  expect(openTurns(new KeyRing([randomBytes(32), key]), 'c1', [sealed])).toEqual([turnOf()]);
});
