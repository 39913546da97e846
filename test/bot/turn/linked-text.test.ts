import { expect, test } from '@jest/globals';
import { linkedText } from '../../../src/bot/turn/linked-text.ts';

test('who is signed in now is said without a time of day, since the reader’s zone is not known', () => {
  const account = { name: 'Ada Park', maskedId: '20•••12' };
  for (const language of ['en', 'zh'] as const) {
    const text = linkedText({ language }, account);
    expect(text).toContain('Ada Park');
    expect(text.replace(account.maskedId, '')).not.toMatch(/\d/);
  }
});
