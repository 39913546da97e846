import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { PostResult } from '../../../src/bot/platforms/platform.ts';
import type { FollowUp } from '../../../src/bot/reply/follow-ups/follow-up.ts';
import { afterAttempt, formatProgress, nextMethod, readProgress } from '../../../src/bot/reply/follow-ups/progress.ts';
import { createFakePlatform } from '../../support/fake-platform.ts';
import { asConversationId } from '../../../src/bot/domain/ids.ts';
import { tries } from '../../support/tries.ts';

const followUp: FollowUp = {
  ...{ version: 1, platform: 'wecom', userId: 'alice', privateChat: { id: asConversationId('c'), partition: 1 } },
  ...{ handle: 'https://example.test/later', handleAgeMs: 0, pieces: ['the rest'], isWhole: false, language: 'en' },
};
const { writePrivately, ...fake } = createFakePlatform();

/** Without a usable handle the remainder is sent as three private messages. */
const PARTS = ['private 0', 'private 1', 'private 2'];

/** What the platform does with an attempt, its response, and whether the worker survives to read it. */
const try_ = fc.record({
  does: fc.boolean(),
  says: fc.constantFrom<PostResult>('sent', 'uncertain', 'busy', 'unauthorised', 'refused'),
  dies: fc.boolean(),
});

test('property: delivers the remainder for any results and crashes, and twice only if no delivery was ever confirmed', () => {
  fc.assert(
    fc.property(fc.array(try_, { maxLength: 16 }), fc.boolean(), (plan, hasApp) => {
      const platform = hasApp && writePrivately ? { ...fake, writePrivately } : fake;
      const [brought, told] = [new Set<string>(), { handle: false }];
      let progress = readProgress({ state: '', parts: '' });
      for (const { does, says, dies } of plan) {
        progress = nextMethod(progress, { followUp, platform, ageMs: 0 });
        if (progress.way === 'reply') break;
        const { way, isInDoubt } = progress;
        const isUsed = way === 'handle' && brought.has('handle');
        const result = resultOf({ does, says, isUsed, isInDoubt });
        // Private messages that were sent before are not shown again.
        if (result === 'sent' || (result === 'uncertain' && does))
          brought.add(way === 'handle' ? way : `private ${progress.sentParts}`);
        const posting = way === 'handle' ? { ...progress, isInDoubt: true } : progress;
        if (dies) {
          progress = readProgress(formatProgress(posting));
          continue;
        }
        if (way === 'handle' && brought.has('handle') && (result === 'sent' || result === 'refused'))
          told.handle = true;
        const after = afterAttempt(progress, result, { pieces: followUp.pieces.length, parts: PARTS.length });
        if (after === 'brought') return expect([...brought]).toEqual(brought.has('handle') ? ['handle'] : PARTS);
        progress = readProgress(formatProgress(after));
      }
      // The time limit is reached: the next private reply begins with the remainder.
      if (told.handle) throw new Error('it is tried although it is known to stand');
    }),
    { numRuns: tries(2_000) },
  );
});

/**
 * The result of an attempt: a used handle is never accepted again, and an unused one is not refused after an uncertain
 * attempt.
 */
function resultOf(of: { does: boolean; says: PostResult; isUsed: boolean; isInDoubt: boolean }): PostResult {
  const { says, isUsed, isInDoubt } = of;
  if (isUsed) return says === 'sent' ? 'refused' : says;
  return says === 'refused' && isInDoubt ? 'busy' : says;
}

test('reads unreadable progress as not begun', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (state, parts) => {
      expect(readProgress({ state, parts }).way).toBe('handle');
      const from = readProgress({ state: 'private 1 known', parts });
      expect(from.sentParts).toBeGreaterThanOrEqual(0);
    }),
  );
});
