import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { deliveryIdOf } from '../../../../src/bot/domain/conversation.ts';
import type { RawDelivery } from '../../../../src/bot/platforms/platform.ts';
import { BOT, deliver, NOW_SEC, textCallback, wecom } from './support.ts';
import { receiveAt } from '../../../support/receive-at.ts';

const bot = wecom();
const HELLO = textCallback('hello');

function withQuery(delivery: RawDelivery, change: (query: URLSearchParams) => void): RawDelivery {
  const query = new URLSearchParams(delivery.query);
  change(query);
  return { ...delivery, query };
}

describe('WeCom address verification', () => {
  test('answers with the decrypted echo exactly', () => {
    const file = readFileSync(new URL('../../../vectors/wecom-crypto.json', import.meta.url), 'utf8');
    const { cases } = JSON.parse(file) as { cases: Record<string, string>[] };
    const sample = cases.find(({ name }) => name === 'aibot-url-verification') ?? {};
    const { msgSignature = '', timestamp = '', nonce = '', encrypt: echostr = '', plaintext } = sample;
    const query = new URLSearchParams({ msg_signature: msgSignature, timestamp, nonce, echostr });
    const answer = { status: 200, body: plaintext };
    expect(receiveAt(bot, { method: 'GET', query, headers: {}, body: Buffer.alloc(0) })).toMatchObject({ answer });
  });

  test('reads an unescaped plus sign in the echo as a plus sign', () => {
    let delivery = deliver('12345', { method: 'GET' });
    while (!delivery.query.get('echostr')?.includes('+')) delivery = deliver('12345', { method: 'GET' });
    const unescaped = withQuery(delivery, (query) =>
      query.set('echostr', query.get('echostr')?.replaceAll('+', ' ') ?? ''),
    );
    expect(receiveAt(bot, unescaped)).toMatchObject({ kind: 'handshake', answer: { body: '12345' } });
  });

  test('refuses a wrong signature with 401 and a missing or undecryptable echo with 400', () => {
    const good = deliver('12345', { method: 'GET' });
    expect(receiveAt(bot, deliver('12345', { method: 'GET', token: 'other' }))).toMatchObject({
      kind: 'refused',
      status: 401,
    });
    expect(
      receiveAt(
        bot,
        withQuery(good, (query) => query.delete('echostr')),
      ),
    ).toMatchObject({ status: 400 });
    const otherKey = wecom({ bot: { ...BOT.bot, aesKey: 'A'.repeat(43) } });
    expect(receiveAt(otherKey, good)).toMatchObject({ kind: 'refused', status: 400 });
  });
});

describe('WeCom delivery verification', () => {
  test('accepts each spelling of the signature and encrypt fields', () => {
    const good = deliver(HELLO);
    for (const name of ['msgsignature', 'signature']) {
      const renamed = withQuery(good, (query) => {
        query.set(name, query.get('msg_signature') ?? '');
        query.delete('msg_signature');
      });
      expect(receiveAt(bot, renamed).kind).toBe('message');
    }
    const body = Buffer.from(good.body.toString().replace('"encrypt"', '"Encrypt"'));
    expect(receiveAt(bot, { ...good, body }).kind).toBe('message');
  });

  test.each(['msg_signature', 'timestamp', 'nonce'])('refuses a missing or repeated %s', (name) => {
    const good = deliver(HELLO);
    const refused = { kind: 'refused', status: 401 };
    expect(
      receiveAt(
        bot,
        withQuery(good, (query) => query.delete(name)),
      ),
    ).toMatchObject(refused);
    expect(
      receiveAt(
        bot,
        withQuery(good, (query) => query.append(name, query.get(name) ?? '')),
      ),
    ).toMatchObject(refused);
  });

  test('refuses a second signature under another name', () => {
    const twice = withQuery(deliver(HELLO), (query) => query.set('signature', query.get('msg_signature') ?? ''));
    expect(receiveAt(bot, twice)).toMatchObject({ kind: 'refused', status: 401 });
  });

  test('compares the signature case-sensitively', () => {
    const upper = withQuery(deliver(HELLO), (query) =>
      query.set('msg_signature', (query.get('msg_signature') ?? '').toUpperCase()),
    );
    expect(receiveAt(bot, upper)).toMatchObject({ kind: 'refused', status: 401, reason: 'malformed signature' });
  });

  test.each([
    ['the oldest accepted', String(NOW_SEC - 300), 'message'],
    ['too old', String(NOW_SEC - 301), 'refused'],
    ['the latest accepted', String(NOW_SEC + 300), 'message'],
    ['too far in the future', String(NOW_SEC + 301), 'refused'],
    ['not a number', 'soon', 'refused'],
    ['milliseconds', `${NOW_SEC}000`, 'refused'],
    ['hexadecimal', '0x6553F100', 'refused'],
    ['with leading zeros', `00${NOW_SEC}`, 'refused'],
  ])('judges a signed timestamp: %s', (_name, timestamp, kind) => {
    expect(receiveAt(bot, deliver(HELLO, { timestamp })).kind).toBe(kind);
  });

  test.each([
    ['not JSON', 'nonsense'],
    ['an array', '[]'],
    ['null', 'null'],
    ['an object without encrypt', '{"a":1}'],
    ['an empty encrypt field', '{"encrypt":""}'],
    ['a numeric encrypt field', '{"encrypt":5}'],
  ])('refuses a body that is %s with 400', (_name, body) => {
    expect(receiveAt(bot, { ...deliver(HELLO), body: Buffer.from(body) })).toMatchObject({
      kind: 'refused',
      status: 400,
    });
  });

  test('refuses a body that is not UTF-8 with 400', () => {
    const broken = Buffer.concat([Buffer.from('{"encrypt":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
    expect(receiveAt(bot, { ...deliver(HELLO), body: broken })).toMatchObject({ kind: 'refused', status: 400 });
  });

  test('answers a signed but undecryptable delivery like any signed invalid content [verify-then-decrypt]', () => {
    const otherKey = wecom({ bot: { ...BOT.bot, aesKey: 'A'.repeat(43) } });
    const nonsense = receiveAt(bot, deliver('{"a":1}'));
    const closed = receiveAt(otherKey, deliver(HELLO));
    const answered = { kind: 'ignored', answer: { status: 200, body: '' } };
    expect(nonsense).toMatchObject(answered);
    // The sender sees no difference; the log names the key.
    expect(closed).toEqual({ ...answered, reason: 'does not open', answer: (nonsense as { answer: unknown }).answer });
  });

  test('never accepts a body with an altered signed byte', () => {
    const good = deliver(HELLO);
    fc.assert(
      fc.property(fc.nat(good.body.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const body = Buffer.from(good.body);
        body[at] = (body[at] ?? 0) ^ flip;
        const same = JSON.stringify(receiveAt(bot, { ...good, body }).kind);
        // Only a change outside the signed text (the other spelling of the field name) may leave the result unchanged.
        expect(same === '"refused"' || body.toString().startsWith('{"Encrypt"')).toBe(true);
      }),
    );
  });

  test('throws no exception for any input', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.uint8Array(),
        fc.constantFrom('GET' as const, 'POST' as const),
        (search, bytes, method) => {
          const delivery = { method, query: new URLSearchParams(search), headers: {}, body: Buffer.from(bytes) };
          expect(receiveAt(bot, delivery).kind).toBe('refused');
        },
      ),
    );
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(receiveAt(bot, deliver(JSON.stringify(value))).kind).toBe('ignored');
      }),
    );
  });
});

describe('WeCom timestamp and nonce, which are signed without a separator', () => {
  const swapped = (delivery: RawDelivery) =>
    withQuery(delivery, (query) => {
      const [time, nonce] = [query.get('timestamp') ?? '', query.get('nonce') ?? ''];
      query.set('timestamp', nonce);
      query.set('nonce', time);
    });

  test('are refused when the nonce is a current timestamp, and also when swapped', () => {
    for (const nonceSec of [NOW_SEC - 300, NOW_SEC, NOW_SEC + 300]) {
      const twofold = deliver(HELLO, { nonce: String(nonceSec) });
      expect(receiveAt(bot, twofold)).toMatchObject({ kind: 'refused', status: 401 });
      expect(receiveAt(bot, swapped(twofold))).toMatchObject({ kind: 'refused', status: 401 });
    }
    expect(receiveAt(bot, deliver(HELLO, { nonce: String(NOW_SEC + 301) })).kind).toBe('message');
  });

  test('property: are accepted in at most one of the two orders', () => {
    const near = fc.integer({ min: NOW_SEC - 900, max: NOW_SEC + 900 }).map(String);
    const nonces = fc.oneof(
      near,
      fc.nat().map(String),
      fc.nat({ max: 999 }).map((end) => `${NOW_SEC}${end}`),
    );
    fc.assert(
      fc.property(near, nonces, (timestamp, nonce) => {
        const signed = deliver(HELLO, { timestamp, nonce });
        const taken = [signed, swapped(signed)].filter((delivery) => receiveAt(bot, delivery).kind === 'message');
        expect(taken.length).toBeLessThanOrEqual(1);
      }),
    );
  });

  test('give the original message id when they are swapped and the nonce becomes the current time', () => {
    const laterSec = NOW_SEC + 3_600;
    const first = deliver(HELLO, { nonce: String(laterSec) });
    const later = wecom({ nowMs: () => laterSec * 1_000 });
    const [was, is] = [receiveAt(bot, first), receiveAt(later, swapped(first))];
    if (was.kind !== 'message' || is.kind !== 'message') throw new Error('not a message');
    expect(deliveryIdOf(is.message)).toBe(deliveryIdOf(was.message));
  });
});
