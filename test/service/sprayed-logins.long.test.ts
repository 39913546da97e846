import { expect, test } from '@jest/globals';
import { browserAt, spray } from './sprayed-logins.ts';
import { authorizePath } from './support.ts';
import { useTestService } from './use-test-service.ts';

const { service } = useTestService({ trustedProxyHops: 1 });

test('of 3,000 sprayed passwords 1,000 are checked, while people known there sign in 200 times', async () => {
  const { browser, attempt } = await browserAt(service, '10.0.0.1');
  expect(await attempt('alice', 'alice-pass')).toBe(303);
  const statuses = await spray(service, '10.0.0.1', 3_000);
  expect(statuses.filter((status) => status === 401)).toHaveLength(1_000);
  expect(statuses.filter((status) => status === 429)).toHaveLength(2_000);
  for (let count = 0; count < 200; count += 1) {
    await browser.get('/logout');
    const page = await browser.get(authorizePath());
    expect((await browser.submit(page, { username: 'alice', password: 'alice-pass' })).statusCode).toBe(303);
  }
  expect(await (await browserAt(service, '10.0.0.1')).attempt('zhangwei', 'zhangwei-pass')).toBe(429);
}, 300_000);
