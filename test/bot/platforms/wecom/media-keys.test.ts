import { describe, expect, test } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { aesKeyOf, encryptPadded } from '../../../../src/bot/platforms/wecom/crypto.ts';
import { mediaRefOf } from '../../../../src/bot/platforms/wecom/media.ts';
import { AES_KEY, deliver, textCallback, wecom } from './support.ts';
import { receiveAt } from '../../../support/receive-at.ts';

const BYTES = Buffer.from('the file');
/** A key whose encodings all differ: its base64 contains both characters that base64url replaces. */
const KEY = Buffer.from(`fbefbe${'ab'.repeat(28)}ff`, 'hex');
/** Fixed: of random keys, 1 in 128 yields bytes that end like padding. */
const OTHER_KEY = Buffer.alloc(32, 'other');
const RAW = 'k3y-with-32-bytes-of-plain-text!';

async function withFile<Result>(sealed: Buffer, use: (origin: string) => Promise<Result>): Promise<Result> {
  const server: Server = createServer((_request, response) => response.end(sealed));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.close();
  }
}

const fetchUnder = (aeskey: string | undefined, sealed: Buffer) =>
  withFile(sealed, (origin) =>
    wecom({ addresses: { apiUrl: origin } }).fetchMedia(
      mediaRefOf({ url: `${origin}/f`, aeskey }),
      1_000,
      new AbortController().signal,
    ),
  );

describe('the key of a WeCom file', () => {
  test.each([
    ['64 hexadecimal digits', KEY.toString('hex')],
    ['64 hexadecimal digits in upper case', KEY.toString('hex').toUpperCase()],
    ['base64', KEY.toString('base64')],
    ['base64 without padding, 43 characters', KEY.toString('base64').replace(/=+$/, '')],
    ['base64url', KEY.toString('base64url')],
    ['base64url with padding', `${KEY.toString('base64url')}=`],
    ['base64 of the hexadecimal digits', Buffer.from(KEY.toString('hex')).toString('base64')],
    ['base64 surrounded by whitespace', ` ${KEY.toString('base64')}\n`],
  ])('is read from %s', async (_form, written) => {
    expect((await fetchUnder(written, encryptPadded(aesKeyOf(KEY), BYTES))).bytes).toEqual(BYTES);
  });

  test('is read from 32 raw bytes', async () => {
    expect((await fetchUnder(RAW, encryptPadded(aesKeyOf(Buffer.from(RAW)), BYTES))).bytes).toEqual(BYTES);
  });

  test.each(['', 'zz', 'a'.repeat(63), '密钥', '='.repeat(44)])(
    'falls back to the bot’s key when it has no usable form: %j',
    async (written) => {
      expect((await fetchUnder(written, encryptPadded(AES_KEY, BYTES))).bytes).toEqual(BYTES);
    },
  );

  test('fails with media_unreadable when it is the wrong key', async () => {
    await expect(fetchUnder(KEY.toString('hex'), encryptPadded(aesKeyOf(OTHER_KEY), BYTES))).rejects.toMatchObject({
      code: 'media_unreadable',
    });
  });

  test.each([
    ['an image', { msgtype: 'image', image: { url: 'https://x.test/i', aes_key: 'K' } }],
    ['a file', { msgtype: 'file', file: { url: 'https://x.test/i', aeskey: 'K' } }],
    [
      'a mixed message',
      {
        msgtype: 'mixed',
        mixed: { msg_item: [{ msgtype: 'image', image: { url: 'https://x.test/i', aeskey: 'K' } }] },
      },
    ],
  ])('is part of the media reference of %s, sent and quoted', (_name, fields) => {
    const mediaRef = mediaRefOf({ url: 'https://x.test/i', aeskey: 'K' });
    const said = receiveAt(wecom(), deliver(textCallback('', { text: undefined, ...fields })));
    const quoted = receiveAt(wecom(), deliver(textCallback('look', { quote: fields })));
    expect(said).toMatchObject({ message: { parts: [{ mediaRef }] } });
    expect(quoted).toMatchObject({ message: { quote: [{ mediaRef }] } });
  });
});
