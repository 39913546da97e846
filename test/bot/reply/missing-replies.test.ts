import { expect, test } from '@jest/globals';
import { createMissingReplies } from '../../../src/bot/reply/missing-replies.ts';
import { asDeliveryId } from '../../../src/bot/domain/ids.ts';

const FIRST = asDeliveryId('first');
const SECOND = asDeliveryId('second');

test('an unknown reply may turn up for 60 s from its first poll, whatever else is polled', () => {
  let nowMs = 5;
  const missing = createMissingReplies(() => nowMs);
  expect(missing.mayStillAppear(FIRST)).toBe(true);
  nowMs += 30_000;
  expect(missing.mayStillAppear(SECOND)).toBe(true);
  nowMs += 29_999;
  expect(missing.mayStillAppear(FIRST)).toBe(true);
  nowMs += 1;
  expect(missing.mayStillAppear(FIRST)).toBe(false);
  expect(missing.mayStillAppear(SECOND)).toBe(true);
});

test('at most 10,000 unknown replies are remembered', () => {
  let nowMs = 0;
  const missing = createMissingReplies(() => nowMs);
  for (let reply = 0; reply <= 10_000; reply += 1) missing.mayStillAppear(asDeliveryId(`reply ${reply}`));
  nowMs += 60_000;
  expect(missing.mayStillAppear(asDeliveryId('reply 10000'))).toBe(false);
  expect(missing.mayStillAppear(asDeliveryId('reply 1'))).toBe(false);
  // Forgotten, so its minute starts again.
  expect(missing.mayStillAppear(asDeliveryId('reply 0'))).toBe(true);
});
