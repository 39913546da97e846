import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { describeRefusal } from '../../../src/bot/metrics/report-receiving.ts';
import { clockSkewSec } from '../../../src/bot/platforms/refused-delivery.ts';

test('each reason for refusing a delivery names the setting or cause to check', () => {
  const words = (reason: string, platform: 'wecom' | 'slack' = 'slack') =>
    describeRefusal({ platform, reason, offSec: 400 });
  expect(words('signature differs')).toContain('SLACK_SIGNING_SECRET');
  expect(words('signature differs', 'wecom')).toContain('WECOM_BOT_TOKEN');
  expect(words('outside the time window')).toContain('400 s off our clock');
  expect(words('no signature')).toContain('a proxy removed its headers or query');
  expect(words('malformed signature')).toContain('its signature has a wrong form');
  expect(words('webhook is off', 'wecom')).toContain('webhooks are off (WECOM_CONNECT=connection)');
  expect(words('too large')).toContain('larger than 1 MiB');
});

test('clockSkewSec returns the absolute difference in whole seconds, or undefined for an invalid time', () => {
  fc.assert(
    fc.property(fc.nat(2_000_000_000), fc.integer({ min: -9_000, max: 9_000 }), (nowSec, offSec) => {
      fc.pre(nowSec + offSec >= 0);
      expect(clockSkewSec(String(nowSec + offSec), () => nowSec * 1_000)).toBe(Math.abs(offSec));
    }),
  );
  for (const text of [undefined, null, '', 'now', '1e9', '-5', '1'.repeat(13)])
    expect(clockSkewSec(text, () => 0)).toBeUndefined();
});
