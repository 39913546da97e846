import { expect, test } from '@jest/globals';
import { linkedText } from '../../../src/bot/turn/linked-text.ts';

test('linkedText names the signed-in account without a time of day, because the reader’s time zone is unknown', () => {
  const account = { name: 'Ada Park', maskedId: '20•••12' };
  for (const language of ['en', 'zh'] as const) {
    const text = linkedText({ language }, account);
    expect(text).toContain('Ada Park');
    expect(text.replace(account.maskedId, '')).not.toMatch(/\d/);
  }
});
