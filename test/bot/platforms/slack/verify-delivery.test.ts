import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { RawDelivery } from '../../../../src/bot/platforms/platform.ts';
import type { SlackOptions } from '../../../../src/bot/platforms/slack/index.ts';
import { deliver, directMessage, NOW_SEC, slack } from './support.ts';
import { receiveAt } from '../../../support/receive-at.ts';

interface SignatureVector {
  name: string;
  signing_secret: string;
  timestamp: string;
  signature: string;
  raw_body: string;
  now_epoch_seconds: number;
  expected: 'accept' | 'reject';
}

const { signature: vectors } = JSON.parse(
  readFileSync(new URL('../../../vectors/slack-inbound.json', import.meta.url), 'utf8'),
) as { signature: SignatureVector[] };

/** The reason for a refusal; undefined when the delivery is accepted. */
function refusalOf(delivery: RawDelivery, options: Partial<SlackOptions> = {}): string | undefined {
  const read = receiveAt(slack(options), delivery);
  return read.kind === 'refused' ? read.reason : undefined;
}

describe('signature verification of a Slack delivery [constant-time] [time-window]', () => {
  test.each(vectors)('gives the expected result for vector $name: $expected', (vector) => {
    const headers = { 'x-slack-signature': vector.signature, 'x-slack-request-timestamp': vector.timestamp };
    const delivery = {
      method: 'POST' as const,
      query: new URLSearchParams(),
      headers,
      body: Buffer.from(vector.raw_body),
    };
    const refusal = refusalOf(delivery, {
      signingSecret: vector.signing_secret,
      nowMs: () => vector.now_epoch_seconds * 1_000,
    });
    expect(refusal === undefined ? 'accept' : 'reject').toBe(vector.expected);
  });

  test('refuses a body with any byte changed', () => {
    const delivery = deliver(directMessage('hello 你好'));
    fc.assert(
      fc.property(fc.nat(delivery.body.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const body = Buffer.from(delivery.body);
        body[at] = (body[at] ?? 0) ^ flip;
        expect(refusalOf({ ...delivery, body })).toBe('signature differs');
      }),
    );
  });

  test.each([
    [-301, 'outside the time window'],
    [-300, undefined],
    [300, undefined],
    [301, 'outside the time window'],
  ])('judges a timestamp %i seconds from now as: %s', (offsetSec, refusal) => {
    expect(refusalOf(deliver(directMessage('x'), { timestampSec: NOW_SEC + offsetSec }))).toBe(refusal);
  });

  test('refuses an absent, repeated or malformed signature header', () => {
    const { headers, ...rest } = deliver(directMessage('x'));
    const signature = String(headers['x-slack-signature']);
    const refusalWith = (value?: string) => refusalOf({ ...rest, headers: { ...headers, 'x-slack-signature': value } });
    for (const value of [undefined, `${signature}, ${signature}`]) expect(refusalWith(value)).toBe('no signature');
    for (const value of [signature.toUpperCase(), `${signature}0`, 'v0='])
      expect(refusalWith(value)).toBe('malformed signature');
    const timestamps = [undefined, '', '1e9', ' 1760000000', '1760000000,1760000000', '-1'];
    for (const value of timestamps)
      expect(refusalOf({ ...rest, headers: { ...headers, 'x-slack-request-timestamp': value } })).toBeDefined();
  });

  test('ignores an unsigned ssl_check request with status 200', () => {
    const body = Buffer.from('ssl_check=1&token=x');
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const delivery = { method: 'POST' as const, query: new URLSearchParams(), headers, body };
    expect(receiveAt(slack(), delivery)).toMatchObject({ kind: 'ignored', answer: { status: 200, body: '' } });
  });
});
