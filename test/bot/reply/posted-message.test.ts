import { expect, test } from '@jest/globals';
import type { PushReplies } from '../../../src/bot/platforms/platform.ts';
import type { ReplySnapshot } from '../../../src/bot/domain/reply.ts';
import { asDeliveryId } from '../../../src/bot/domain/ids.ts';
import type { PostState } from '../../../src/bot/reply/post-ledger.ts';
import { PostedMessage } from '../../../src/bot/reply/posted-message.ts';

const LOOK: Omit<ReplySnapshot, 'shown'> = { content: 'From the past', finished: false };
const HANDLE = 'handle';

/** A part whose process is frozen for so long in the first question to the fence, or in the first look-up. */
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
      return { keyed: [], strays: [], doomed: [] };
    },
    remove: async () => 'gone',
    placeOf: () => 'place',
  };
  const ledger = {
    // Whoever asks after the freeze is told that another one has taken over.
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
  'a worker that was frozen while the fence answered asks anew before %s [worker-frozen] [fence]',
  async (_, known) => {
    const { part, calls } = frozenPart('fence', known, 15_000);
    expect(await part.sync(LOOK)).toEqual({ result: 'fenced' });
    expect(calls).toEqual(['fence', 'fence']);
  },
);

test('a worker that was frozen while it looked for a post asks anew before it posts [worker-frozen] [looked-up-not-repeated]', async () => {
  const { part, calls } = frozenPart('search', { kind: 'posting', sinceMs: 60_000, isOwn: false }, 15_000);
  expect(await part.sync(LOOK)).toMatchObject({ result: 'wait', pauseMs: 0 });
  expect(await part.sync(LOOK)).toEqual({ result: 'fenced' });
  expect(calls).toEqual(['fence', 'fence']);
});

test('what comes in time is asked once', async () => {
  const { part, calls } = frozenPart('fence', { kind: 'posted', handle: HANDLE }, 1_000);
  expect(await part.sync(LOOK)).toEqual({ result: 'shown' });
  expect(calls).toEqual(['fence', 'update']);
});
