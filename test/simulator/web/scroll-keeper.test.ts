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

describe('the scroll position of the reader', () => {
  test('counts as the end within fractions of a pixel', () => {
    expect(isAtBottom(box(1_499.4))).toBe(true);
    expect(isAtBottom(box(1_400))).toBe(false);
  });

  test('leaves the end by scrolling up, and clears the count by scrolling back', () => {
    const up = afterScroll(START_PLACE, box(900), 1_500);
    expect(up).toEqual(UP);
    expect(afterScroll({ ...up, newCount: 3 }, box(1_500), 900)).toEqual(START_PLACE);
  });

  test('leaves the end by the smallest step up, even while content grows, but not by a step of the browser after content shrank', () => {
    expect(afterScroll(START_PLACE, box(1_498), 1_500)).toEqual(UP);
    expect(afterScroll(START_PLACE, { ...box(1_490), scrollHeight: 1_990 }, 1_500)).toEqual(START_PLACE);
    expect(afterStartUp(START_PLACE, box(1_500))).toEqual(UP);
    expect(afterStartUp(START_PLACE, { scrollTop: 0, clientHeight: 500, scrollHeight: 400 })).toEqual(START_PLACE);
  });

  test('stays at the end if content grew between two scroll events', () => {
    expect(afterScroll(START_PLACE, { ...box(1_500), scrollHeight: 2_400 }, 1_500).atBottom).toBe(true);
  });

  test('follows new content at the end, counts it above the end, and moves to the end for own messages', () => {
    expect(afterArrival(START_PLACE, { count: 2, own: false })).toEqual(START_PLACE);
    expect(afterArrival(UP, { count: 2, own: false })).toEqual({ atBottom: false, newCount: 2 });
    expect(afterArrival({ atBottom: false, newCount: 2 }, { count: 1, own: true })).toEqual(START_PLACE);
  });

  test('is never moved by messages of others above the end', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(4)), (counts) => {
        const place = counts.reduce((before, count) => afterArrival(before, { count, own: false }), UP);
        expect(place).toEqual({ atBottom: false, newCount: counts.reduce((sum, count) => sum + count, 0) });
      }),
    );
  });
});
