/** Dimensions of a scrolling box, in CSS pixels. */
export interface ScrollBox {
  scrollTop: number;
  clientHeight: number;
  scrollHeight: number;
}

/** The reader's position, and the number of messages that arrived below it. */
export interface ReadingPlace {
  atBottom: boolean;
  /** Messages that arrived below the reader's position. */
  newCount: number;
}

export const START_PLACE: ReadingPlace = { atBottom: true, newCount: 0 };

/** Distance to the end that counts as being there (half a line, and fractions of zoomed pixels). */
const NEAR_BOTTOM_PX = 24;

/** Whether the reader sees the end of the list. */
export function isAtBottom(box: ScrollBox): boolean {
  return box.scrollHeight - box.scrollTop - box.clientHeight <= NEAR_BOTTOM_PX;
}

/** Tolerance for fractions of a zoomed pixel. */
const AT_THE_VERY_END_PX = 1;

/** Whether the list is scrolled to its very end. */
export function isAtVeryEnd(box: ScrollBox): boolean {
  return box.scrollHeight - box.scrollTop - box.clientHeight <= AT_THE_VERY_END_PX;
}

/**
 * The position after a scroll event. Only scrolling up leaves the bottom, by any distance. If content grew between two
 * scroll events, the box is no longer at its end although the reader has not moved; if content shrank, the browser moves the
 * box up and it is still at its end.
 */
export function afterScroll(place: ReadingPlace, box: ScrollBox, previousTop: number): ReadingPlace {
  const movedUp = box.scrollTop < previousTop;
  const atBottom = movedUp ? isAtVeryEnd(box) : place.atBottom || isAtBottom(box);
  const newCount = atBottom ? 0 : place.newCount;
  return atBottom === place.atBottom && newCount === place.newCount ? place : { atBottom, newCount };
}

/**
 * The position when the reader begins to scroll up, before anything has moved, so that a growing answer does not scroll them
 * back.
 */
export function afterStartUp(place: ReadingPlace, box: ScrollBox): ReadingPlace {
  return place.atBottom && box.scrollTop > 0 ? { atBottom: false, newCount: 0 } : place;
}

/**
 * The position if the reader has scrolled up and the event has not arrived yet, so that other updates do not scroll them
 * back.
 */
export function afterUnheardScroll(place: ReadingPlace, box: ScrollBox, previousTop: number): ReadingPlace {
  const hasLeft = place.atBottom && box.scrollTop < previousTop && !isAtVeryEnd(box);
  return hasLeft ? { atBottom: false, newCount: 0 } : place;
}

/** The position after messages arrived. The list must be scrolled to its end exactly if the result's `atBottom` is true. */
export function afterArrival(place: ReadingPlace, arrival: { count: number; own: boolean }): ReadingPlace {
  if (arrival.own) return START_PLACE;
  if (place.atBottom || arrival.count === 0) return place;
  return { atBottom: false, newCount: place.newCount + arrival.count };
}
