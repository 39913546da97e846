import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { clientAddress } from '../../../src/shared/http/client-address.ts';

const request = (forwarded: string | undefined, remoteAddress = '9.9.9.9') =>
  ({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage;
const forwarded = (entry: string) => clientAddress(request(entry), 1);

test('the client address is the one of the trusted hop, never a value from the client', () => {
  expect(clientAddress(request('1.1.1.1'), 0)).toBe('9.9.9.9');
  expect(clientAddress(request('1.1.1.1, 2.2.2.2'), 1)).toBe('2.2.2.2');
  expect(clientAddress(request('1.1.1.1, 2.2.2.2, 3.3.3.3'), 2)).toBe('2.2.2.2');
  expect(clientAddress(request(undefined), 1)).toBe('9.9.9.9');
});

test('a header with fewer entries than proxies, or without an address, gives no client address', () => {
  expect(clientAddress(request('1.1.1.1'), 3)).toBe('9.9.9.9');
  for (const entry of ['', 'unknown', '_hidden', '1.2.3', '999.1.1.1', '[::1', '<script>'])
    expect(forwarded(entry)).toBe('9.9.9.9');
});

describe('one client has one address in any notation', () => {
  test('ports, brackets, zones and quotes are not part of the address', () => {
    for (const entry of [
      '10.1.2.3',
      '10.1.2.3:443',
      ' 10.1.2.3 ',
      '"10.1.2.3:1"',
      '::ffff:10.1.2.3',
      '[::ffff:a01:203]:80',
    ])
      expect(forwarded(entry)).toBe('10.1.2.3');
    for (const entry of [
      '2001:db8:1:2::7',
      '[2001:DB8:1:2::7]',
      '[2001:db8:1:2:0:0:0:7]:65535',
      '2001:0db8:0001:0002::%eth0',
    ])
      expect(forwarded(entry)).toBe('2001:db8:1:2::/64');
  });

  test('a port does not change the address', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), fc.nat(65_535), (address, port) => {
        const alone = forwarded(address);
        expect(alone).not.toBe('9.9.9.9');
        expect(forwarded(address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`)).toBe(alone);
      }),
    );
  });

  test('the 64 bits that an IPv6 client chooses do not change the address, and the others do', () => {
    const group = fc.integer({ min: 1, max: 0xffff });
    const half = fc
      .tuple(group, group, group, group)
      .map((groups) => groups.map((value) => value.toString(16)).join(':'));
    fc.assert(
      fc.property(half, half, half, (network, host, otherHost) => {
        expect(forwarded(`${network}:${host}`)).toBe(forwarded(`${network}:${otherHost}`));
        expect(clientAddress(request(undefined, `${network}:${host}`), 0)).toBe(`${network}::/64`);
      }),
    );
  });
});
