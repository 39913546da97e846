import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { PostResult } from '../../../src/bot/platforms/platform.ts';
import type { FollowUp } from '../../../src/bot/reply/follow-ups/follow-up.ts';
import { afterTry, formatProgress, nextWay, readProgress } from '../../../src/bot/reply/follow-ups/progress.ts';
import { createFakePlatform } from '../../support/fake-platform.ts';
import { asConversationId } from '../../../src/bot/domain/ids.ts';

const followUp: FollowUp = {
  ...{ version: 1, platform: 'wecom', userId: 'alice', privateChat: { id: asConversationId('c'), partition: 1 } },
  ...{ handle: 'https://example.test/later', handleAgeMs: 0, pieces: ['the rest'], isWhole: false, language: 'en' },
};
const { writePrivately, ...fake } = createFakePlatform();

/** What no handle brought is written privately in three messages. */
const PARTS = ['private 0', 'private 1', 'private 2'];

/** What a platform does with one try, what of it comes back, and whether the worker lives to read it. */
const try_ = fc.record({
  does: fc.boolean(),
  says: fc.constantFrom<PostResult>('sent', 'uncertain', 'busy', 'unauthorised', 'refused'),
  dies: fc.boolean(),
});

test('whatever becomes of the tries, and whoever dies in them: the rest is brought, and twice only if no word of it ever came back', () => {
  fc.assert(
    fc.property(fc.array(try_, { maxLength: 16 }), fc.boolean(), (plan, hasApp) => {
      const platform = hasApp && writePrivately ? { ...fake, writePrivately } : fake;
      const [brought, told] = [new Set<string>(), { handle: false }];
      let progress = readProgress({ state: '', parts: '' });
      for (const { does, says, dies } of plan) {
        progress = nextWay(progress, { followUp, platform, ageMs: 0 });
        if (progress.way === 'reply') break;
        const { way, isInDoubt } = progress;
        const isUsed = way === 'handle' && brought.has('handle');
        const result = resultOf({ does, says, isUsed, isInDoubt });
        // What was written privately before is not shown again.
        if (result === 'sent' || (result === 'uncertain' && does))
          brought.add(way === 'handle' ? way : `private ${progress.sentParts}`);
        const posting = way === 'handle' ? { ...progress, isInDoubt: true } : progress;
        if (dies) {
          progress = readProgress(formatProgress(posting));
          continue;
        }
        if (way === 'handle' && brought.has('handle') && (result === 'sent' || result === 'refused'))
          told.handle = true;
        const after = afterTry(progress, result, { pieces: followUp.pieces.length, parts: PARTS.length });
        if (after === 'brought') return expect([...brought]).toEqual(brought.has('handle') ? ['handle'] : PARTS);
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
  fc.assert(
    fc.property(fc.string(), fc.string(), (state, parts) => {
      expect(readProgress({ state, parts }).way).toBe('handle');
      const from = readProgress({ state: 'private 1 known', parts });
      expect(from.sentParts).toBeGreaterThanOrEqual(0);
    }),
  );
});
