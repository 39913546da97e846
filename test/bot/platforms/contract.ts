import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Delivery, Platform, RawDelivery } from '../../../src/bot/platforms/platform.ts';
import { receiveAt } from '../../support/receive-at.ts';

/** What a platform's test folder hands to the contract suite, as `fixture`, in `fixture.ts`. */
export interface PlatformFixture {
  create(): Platform;
  /** Deliveries signed as the platform signs them. */
  privateText(text: string, options?: { messageId?: string; userId?: string }): RawDelivery;
  groupText(text: string, options?: { userId?: string }): RawDelivery;
  /** Signed; an event that no person wrote, of a kind that nobody knows. */
  unknownEvent(): RawDelivery;
  /** The same delivery with a signature that does not fit. */
  missigned(delivery: RawDelivery): RawDelivery;
  /** What calls everybody on this platform. */
  broadcastMarks: string[];
}

/** The promises of the `Platform` port that need no network. Runs for each folder in src/bot/platforms. */
export function describePlatform(name: string, fixture: PlatformFixture): void {
  const platform = fixture.create();

  describe(`${name} receives`, () => {
    test('a private and a group message with the same tenant and app as the platform’s', () => {
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

    test('the same message twice as the same id, another as another', () => {
      const idOf = (delivery: Delivery) => (delivery.kind === 'message' ? delivery.message.messageId : delivery.kind);
      const first = idOf(receiveAt(platform, fixture.privateText('hello', { messageId: 'one' })));
      expect(idOf(receiveAt(platform, fixture.privateText('hello', { messageId: 'one' })))).toBe(first);
      expect(idOf(receiveAt(platform, fixture.privateText('hello', { messageId: 'two' })))).not.toBe(first);
    });

    test('slash words in private and after a mention', () => {
      const slash = { word: 'stop', argument: '' };
      expect(receiveAt(platform, fixture.privateText('/stop'))).toMatchObject({ message: { slash } });
      expect(receiveAt(platform, fixture.groupText('/stop'))).toMatchObject({ message: { slash } });
    });

    test('nothing that is not signed', () => {
      const refused = { kind: 'refused', status: 401 };
      expect(receiveAt(platform, fixture.missigned(fixture.privateText('hello')))).toMatchObject(refused);
    });

    test('an unknown event as ignored, without an error', () => {
      const delivery = receiveAt(platform, fixture.unknownEvent());
      expect(delivery).toMatchObject({ kind: 'ignored', answer: { status: 200 } });
    });

    test('anything at all without throwing', () => {
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
    test('live replies end before their life does', () => {
      const { liveLifetimeMs, handoverMarginMs, maxBytes } = platform.replyTraits;
      expect(handoverMarginMs).toBeLessThan(liveLifetimeMs);
      expect(maxBytes).toBeGreaterThan(1_000);
    });

    test('a plain text is shown as it is', () => {
      expect(platform.renderReply({ text: 'Hello, Alice. 你好。', finished: true })).toBe('Hello, Alice. 你好。');
    });

    test('any snapshot fits, and a split one keeps every word', async () => {
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

    test.each(fixture.broadcastMarks)('%j calls nobody', (mark) => {
      const text = `before ${mark} after`;
      expect(platform.renderReply({ text, finished: true })).not.toContain(mark);
      expect(platform.splitReply(text).join('')).not.toContain(mark);
    });

    test('media from another host are refused', async () => {
      const fetching = platform.fetchMedia('https://elsewhere.invalid/i', 1_000, AbortSignal.timeout(1_000));
      await expect(fetching).rejects.toMatchObject({ code: 'media_refused' });
    });
  });
}
