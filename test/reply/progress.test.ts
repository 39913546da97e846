import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { PostResult } from '../../src/platforms/platform.ts';
import type { FollowUp } from '../../src/reply/follow-ups/follow-up.ts';
import { afterTry, formatProgress, nextWay, readProgress, type Progress } from '../../src/reply/follow-ups/progress.ts';
import { createFakePlatform } from '../support/fake-platform.ts';

const followUp: FollowUp = {
  ...{ version: 1, platform: 'wecom', userId: 'alice', privateChat: { id: 'c', partition: 1 } },
  ...{ handle: 'https://example.test/later', handleAgeMs: 0, pieces: ['the rest'], isWhole: false, language: 'en' },
};
const { writePrivately, ...fake } = createFakePlatform();

/** What a platform does with one try, what of it comes back, and whether the worker lives to read it. */
const try_ = fc.record({
  does: fc.boolean(),
  says: fc.constantFrom<PostResult>('sent', 'uncertain', 'busy', 'unauthorised', 'refused'),
  dies: fc.boolean(),
});

test('whatever becomes of the tries, and whoever dies in them: the rest is brought, and twice only if no word of it ever came back', () => {
  fc.assert(
    fc.property(fc.array(try_, { maxLength: 12 }), fc.boolean(), (plan, hasApp) => {
      const platform = hasApp && writePrivately ? { ...fake, writePrivately } : fake;
      const [brought, told] = [new Set<Progress['way']>(), { handle: false }];
      let progress = readProgress('');
      for (const { does, says, dies } of plan) {
        progress = nextWay(progress, { followUp, platform, ageMs: 0 });
        if (progress.way === 'reply') break;
        const { way, isInDoubt } = progress;
        const isUsed = way === 'handle' && brought.has('handle');
        const result = resultOf({ does, says, isUsed, isInDoubt });
        if (result === 'sent' || (result === 'uncertain' && does)) brought.add(way);
        const posting = way === 'handle' ? { ...progress, isInDoubt: true } : progress;
        if (dies) {
          progress = readProgress(formatProgress(posting));
          continue;
        }
        if (way === 'handle' && brought.has('handle') && (result === 'sent' || result === 'refused'))
          told.handle = true;
        const after = afterTry(progress, result, followUp);
        if (after === 'brought') return expect(brought.size).toBe(1);
        progress = readProgress(formatProgress(after));
      }
      // Its time is over: the next private reply begins with it.
      if (told.handle) throw new Error('it is tried although it is known to stand');
    }),
    { numRuns: 2_000 },
  );
});

/** A handle that was used is refused, unless nobody looked at it; one that was not used is refused only by one who looks. */
function resultOf(of: { does: boolean; says: PostResult; isUsed: boolean; isInDoubt: boolean }): PostResult {
  const { says, isUsed, isInDoubt } = of;
  if (isUsed) return says === 'sent' ? 'refused' : says;
  return says === 'refused' && isInDoubt ? 'busy' : says;
}

test('progress that cannot be read has not begun', () => {
  fc.assert(fc.property(fc.string(), (text) => readProgress(text).way === 'handle'));
});
