import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  afterArrival,
  afterScroll,
  afterStartUp,
  isAtBottom,
  START_PLACE,
} from '../../../src/simulator/web/scroll-keeper.ts';

const box = (scrollTop: number) => ({ scrollTop, clientHeight: 500, scrollHeight: 2_000 });
const UP = { atBottom: false, newCount: 0 };

describe('Where the reader is', () => {
  test('fractions of pixels still count as the end', () => {
    expect(isAtBottom(box(1_499.4))).toBe(true);
    expect(isAtBottom(box(1_400))).toBe(false);
  });

  test('scrolling up leaves the end, scrolling back clears the count', () => {
    const up = afterScroll(START_PLACE, box(900), 1_500);
    expect(up).toEqual(UP);
    expect(afterScroll({ ...up, newCount: 3 }, box(1_500), 900)).toEqual(START_PLACE);
  });

  test('the smallest step up leaves the end, also while content grows; one that the browser makes since content shrank does not', () => {
    expect(afterScroll(START_PLACE, box(1_498), 1_500)).toEqual(UP);
    expect(afterScroll(START_PLACE, { ...box(1_490), scrollHeight: 1_990 }, 1_500)).toEqual(START_PLACE);
    expect(afterStartUp(START_PLACE, box(1_500))).toEqual(UP);
    expect(afterStartUp(START_PLACE, { scrollTop: 0, clientHeight: 500, scrollHeight: 400 })).toEqual(START_PLACE);
  });

  test('content that grew between two scroll events does not leave the end', () => {
    expect(afterScroll(START_PLACE, { ...box(1_500), scrollHeight: 2_400 }, 1_500).atBottom).toBe(true);
  });

  test('what comes in is followed at the end, counted above it, and own messages lead to it', () => {
    expect(afterArrival(START_PLACE, { count: 2, own: false })).toEqual(START_PLACE);
    expect(afterArrival(UP, { count: 2, own: false })).toEqual({ atBottom: false, newCount: 2 });
    expect(afterArrival({ atBottom: false, newCount: 2 }, { count: 1, own: true })).toEqual(START_PLACE);
  });

  test('a reader who is further up is never moved by what others write', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(4)), (counts) => {
        const place = counts.reduce((before, count) => afterArrival(before, { count, own: false }), UP);
        expect(place).toEqual({ atBottom: false, newCount: counts.reduce((sum, count) => sum + count, 0) });
      }),
    );
  });
});
