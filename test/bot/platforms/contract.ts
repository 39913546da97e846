import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Delivery, Platform, RawDelivery } from '../../../src/bot/platforms/platform.ts';
import { receiveAt } from '../../support/receive-at.ts';

/** Exported as `fixture` by the `fixture.ts` of each platform's test folder. */
export interface PlatformFixture {
  create(): Platform;
  /** Deliveries with a valid signature of the platform. */
  privateText(text: string, options?: { messageId?: string; userId?: string }): RawDelivery;
  groupText(text: string, options?: { userId?: string }): RawDelivery;
  /** Signed; an event of an unknown kind that was not caused by a message. */
  unknownEvent(): RawDelivery;
  /** The same delivery with a wrong signature. */
  missigned(delivery: RawDelivery): RawDelivery;
  /** Mentions that notify everyone on this platform. */
  broadcastMarks: string[];
}

/** The parts of the `Platform` contract that need no network. Runs for each folder in src/bot/platforms. */
export function describePlatform(name: string, fixture: PlatformFixture): void {
  const platform = fixture.create();

  describe(`${name} deliveries`, () => {
    test('are read from private and group chats with the platform’s tenant and app', () => {
      const own = { version: 1, platform: name, tenant: platform.tenant, app: platform.app };
      expect(receiveAt(platform, fixture.privateText('hello'))).toMatchObject({
        kind: 'message',
        message: { ...own, chat: { kind: 'private' }, parts: [{ type: 'text', text: 'hello' }] },
      });
      expect(receiveAt(platform, fixture.groupText('hello'))).toMatchObject({
        kind: 'message',
        message: { ...own, chat: { kind: 'group' }, parts: [{ type: 'text', text: 'hello' }] },
      });
    });

    test('get equal ids for a redelivered message and different ids for different messages', () => {
      const idOf = (delivery: Delivery) => (delivery.kind === 'message' ? delivery.message.messageId : delivery.kind);
      const first = idOf(receiveAt(platform, fixture.privateText('hello', { messageId: 'one' })));
      expect(idOf(receiveAt(platform, fixture.privateText('hello', { messageId: 'one' })))).toBe(first);
      expect(idOf(receiveAt(platform, fixture.privateText('hello', { messageId: 'two' })))).not.toBe(first);
    });

    test('are read as slash commands in private and after a mention', () => {
      const slash = { word: 'stop', argument: '' };
      expect(receiveAt(platform, fixture.privateText('/stop'))).toMatchObject({ message: { slash } });
      expect(receiveAt(platform, fixture.groupText('/stop'))).toMatchObject({ message: { slash } });
    });

    test('are refused with 401 when the signature is wrong', () => {
      const refused = { kind: 'refused', status: 401 };
      expect(receiveAt(platform, fixture.missigned(fixture.privateText('hello')))).toMatchObject(refused);
    });

    test('are ignored with status 200 when the event is unknown', () => {
      const delivery = receiveAt(platform, fixture.unknownEvent());
      expect(delivery).toMatchObject({ kind: 'ignored', answer: { status: 200 } });
    });

    test('are refused without an exception when they contain arbitrary bytes', () => {
      fc.assert(
        fc.property(fc.uint8Array(), fc.string(), (body, search) => {
          const raw: RawDelivery = {
            method: 'POST',
            query: new URLSearchParams(search),
            headers: {},
            body: Buffer.from(body),
          };
          expect(receiveAt(platform, raw).kind).toBe('refused');
        }),
      );
    });
  });

  describe(`${name} replies`, () => {
    test('have a handover margin shorter than their live lifetime', () => {
      const { liveLifetimeMs, handoverMarginMs, maxBytes } = platform.replyTraits;
      expect(handoverMarginMs).toBeLessThan(liveLifetimeMs);
      expect(maxBytes).toBeGreaterThan(1_000);
    });

    test('show plain text unchanged', () => {
      expect(platform.renderReply({ text: 'Hello, Alice. 你好。', finished: true })).toBe('Hello, Alice. 你好。');
    });

    test('fit the size limit as snapshot and as split messages, and lose no word in splitting', async () => {
      const text = 'A sentence of some words. 一句话。\n\n'.repeat(3_000);
      const { maxBytes } = platform.replyTraits;
      const snapshot = platform.renderReply({ text, status: 'busy', finished: false });
      expect(Buffer.byteLength(snapshot)).toBeLessThanOrEqual(maxBytes);
      const pieces = platform.splitReply(text);
      expect(await platform.splitAnswer(text)).toEqual(pieces);
      for (const piece of pieces) {
        expect(Buffer.byteLength(platform.renderReply({ text: piece, finished: true }))).toBeLessThanOrEqual(maxBytes);
      }
      expect(pieces.join('').replaceAll(/\s/g, '')).toBe(text.replaceAll(/\s/g, ''));
    });

    test.each(fixture.broadcastMarks)('do not contain the broadcast mention %j', (mark) => {
      const text = `before ${mark} after`;
      expect(platform.renderReply({ text, finished: true })).not.toContain(mark);
      expect(platform.splitReply(text).join('')).not.toContain(mark);
    });

    test('refuse media from another host', async () => {
      const fetching = platform.fetchMedia('https://elsewhere.invalid/i', 1_000, AbortSignal.timeout(1_000));
      await expect(fetching).rejects.toMatchObject({ code: 'media_refused' });
    });
  });
}
