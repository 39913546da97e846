import { expect, test } from '@jest/globals';
import type { PushReplies } from '../../../src/bot/platforms/platform.ts';
import type { ReplySnapshot } from '../../../src/bot/domain/reply.ts';
import { asDeliveryId } from '../../../src/bot/domain/ids.ts';
import type { PostState } from '../../../src/bot/reply/post-ledger.ts';
import { PostedMessage } from '../../../src/bot/reply/posted-message.ts';

const LOOK: Omit<ReplySnapshot, 'shown'> = { content: 'From the past', finished: false };
const HANDLE = 'handle';

/** A message whose process freezes for `forMs` during the first fence check or the first search. */
function frozenPart(frozenIn: 'fence' | 'search', known: PostState, forMs: number) {
  let clockMs = 0;
  let isFrozen = false;
  const calls: string[] = [];
  const freezeOnce = () => {
    clockMs += isFrozen ? 0 : forMs;
    isFrozen = true;
  };
  const push: PushReplies = {
    open: async () => (calls.push('open'), { result: 'sent', handle: HANDLE }),
    update: async () => (calls.push('update'), { result: 'sent', handle: HANDLE }),
    find: async () => {
      if (frozenIn === 'search') freezeOnce();
      return { keyed: [], orphans: [], pendingDeletes: [] };
    },
    remove: async () => 'gone',
    placeOf: () => 'place',
  };
  const ledger = {
    // A fence check after the freeze reports that another worker has taken over.
    begin: async () => {
      calls.push('fence');
      if (isFrozen) return undefined;
      if (frozenIn === 'fence') freezeOnce();
      return known;
    },
    record: async () => known,
    withdraw: async () => undefined,
    claimStray: async () => 'mine' as const,
  };
  const traits = { lookUpAfterMs: 0, postSettlesWithinMs: 30_000 };
  const options = { push, target: 't', ledger, deliveryId: asDeliveryId('d'), traits, part: 0, wasBegun: false };
  const part = new PostedMessage({ ...options, isClaimHeld: () => false, nowMs: () => clockMs });
  return { part, calls };
}

test.each<[string, PostState]>([
  ['an edit', { kind: 'posted', handle: HANDLE }],
  ['a post', { kind: 'unsent' }],
])(
  'a worker that was frozen during a fence check repeats the check before %s [worker-frozen] [fence]',
  async (_, known) => {
    const { part, calls } = frozenPart('fence', known, 15_000);
    expect(await part.sync(LOOK)).toEqual({ result: 'fenced' });
    expect(calls).toEqual(['fence', 'fence']);
  },
);

test('a worker that was frozen during a search checks the fence again before it posts [worker-frozen] [looked-up-not-repeated]', async () => {
  const { part, calls } = frozenPart('search', { kind: 'posting', sinceMs: 60_000, isOwn: false }, 15_000);
  expect(await part.sync(LOOK)).toMatchObject({ result: 'wait', pauseMs: 0 });
  expect(await part.sync(LOOK)).toEqual({ result: 'fenced' });
  expect(calls).toEqual(['fence', 'fence']);
});

test('a fence check that returns in time is made once', async () => {
  const { part, calls } = frozenPart('fence', { kind: 'posted', handle: HANDLE }, 1_000);
  expect(await part.sync(LOOK)).toEqual({ result: 'shown' });
  expect(calls).toEqual(['fence', 'update']);
});
