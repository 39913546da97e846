/** The three numbers of a scrolling box, in CSS pixels. */
export interface ScrollBox {
  scrollTop: number;
  clientHeight: number;
  scrollHeight: number;
}

/** Where the reader is, and how much came in below while they were reading further up. */
export interface ReadingPlace {
  atBottom: boolean;
  /** Messages that came in below the reader's place. */
  newCount: number;
}

export const START_PLACE: ReadingPlace = { atBottom: true, newCount: 0 };

/** Closer to the end than this counts as being there (half a line, and fractions of zoomed pixels). */
const NEAR_BOTTOM_PX = 24;

/** Whether the reader sees the end of the list. */
export function isAtBottom(box: ScrollBox): boolean {
  return box.scrollHeight - box.scrollTop - box.clientHeight <= NEAR_BOTTOM_PX;
}

/** Fractions of a zoomed pixel. */
const AT_THE_VERY_END_PX = 1;

/** Whether nothing of the list is below. */
export function isAtVeryEnd(box: ScrollBox): boolean {
  return box.scrollHeight - box.scrollTop - box.clientHeight <= AT_THE_VERY_END_PX;
}

/**
 * The place after a scroll event. Only scrolling up leaves the bottom, and the smallest step does: when content has grown
 * between two scroll events, the box is no longer at its end although nobody moved away from it, and when it shrank, the browser
 * moves it up and it is at its end still.
 */
export function afterScroll(place: ReadingPlace, box: ScrollBox, previousTop: number): ReadingPlace {
  const movedUp = box.scrollTop < previousTop;
  const atBottom = movedUp ? isAtVeryEnd(box) : place.atBottom || isAtBottom(box);
  const newCount = atBottom ? 0 : place.newCount;
  return atBottom === place.atBottom && newCount === place.newCount ? place : { atBottom, newCount };
}

/** The place once the reader begins to move up, before anything has moved: a growing answer must not pull them back meanwhile. */
export function afterStartUp(place: ReadingPlace, box: ScrollBox): ReadingPlace {
  return place.atBottom && box.scrollTop > 0 ? { atBottom: false, newCount: 0 } : place;
}

/** The place where the reader moved up and no event has told of it yet: whatever else the page draws meanwhile must not pull them back. */
export function afterUnheardScroll(place: ReadingPlace, box: ScrollBox, previousTop: number): ReadingPlace {
  const hasLeft = place.atBottom && box.scrollTop < previousTop && !isAtVeryEnd(box);
  return hasLeft ? { atBottom: false, newCount: 0 } : place;
}

/** The place after messages came in; the list is to be scrolled to its end exactly when the result's `atBottom` is true. */
export function afterArrival(place: ReadingPlace, arrival: { count: number; own: boolean }): ReadingPlace {
  if (arrival.own) return START_PLACE;
  if (place.atBottom || arrival.count === 0) return place;
  return { atBottom: false, newCount: place.newCount + arrival.count };
}
