import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import {
  afterArrival,
  afterScroll,
  afterStartUp,
  afterUnheardScroll,
  isAtVeryEnd,
  START_PLACE,
  type ReadingPlace,
} from './scroll-keeper.ts';

/** What the list needs from its rows. */
export interface ListRows {
  rowKeys: readonly string[];
  newestIsOwn: boolean;
  /** The content of an empty conversation is read from its beginning. */
  isFirstRun: boolean;
}

/** By then a wheel notch or a key has moved the list, if it moves it at all. */
const MOVES_WITHIN_MS = 300;
const KEYS_UP = new Set(['PageUp', 'Home', 'ArrowUp']);

/**
 * Keeps a scrolling list at its end while the reader is there, and counts messages that arrive while they read further up.
 * Rows inserted before the first one do not move the visible ones. `outer` scrolls, `inner` grows. The list must be
 * remounted for another conversation.
 */
export function useStickToBottom(rows: ListRows) {
  const outer = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const place = useRef<ReadingPlace>(START_PLACE);
  const lastTop = useRef(0);
  const isFirstRun = useRef(rows.isFirstRun);
  isFirstRun.current = rows.isFirstRun;
  const known = useRef<readonly string[] | undefined>(undefined);
  const [shown, setShown] = useState<ReadingPlace>(START_PLACE);

  const moveTo = useCallback((next: ReadingPlace) => {
    place.current = next;
    setShown(next);
    const box = outer.current;
    if (box === null || !next.atBottom) return;
    if (!isFirstRun.current) box.scrollTop = box.scrollHeight;
    lastTop.current = box.scrollTop;
  }, []);
  const placeNow = useCallback(() => {
    const box = outer.current;
    return box === null ? place.current : afterUnheardScroll(place.current, box, lastTop.current);
  }, []);

  const keepPlace = useScrollAnchor(outer);
  useLayoutEffect(() => {
    const before = known.current;
    known.current = rows.rowKeys;
    keepPlace.restore(rows.rowKeys);
    const newest = before?.at(-1);
    const at = newest === undefined ? -1 : rows.rowKeys.indexOf(newest);
    const count = before === undefined || at < 0 ? 0 : rows.rowKeys.length - 1 - at;
    moveTo(afterArrival(placeNow(), { count, own: count > 0 && rows.newestIsOwn }));
  });

  useEffect(() => {
    // For loading images, unfolding code blocks, and resizing of the window or composer.
    const observer = new ResizeObserver(() => moveTo(placeNow()));
    if (outer.current) observer.observe(outer.current);
    if (inner.current) observer.observe(inner.current);
    return () => observer.disconnect();
  }, [moveTo, placeNow]);

  const onScroll = useCallback(() => {
    const box = outer.current;
    if (box === null) return;
    place.current = afterScroll(place.current, box, lastTop.current);
    lastTop.current = box.scrollTop;
    setShown(place.current);
  }, []);

  /** Smooth scrolling by the browser stops as soon as a growing answer moves the list. */
  const startUp = useCallback(() => {
    const box = outer.current;
    if (box === null) return;
    moveTo(afterStartUp(place.current, box));
    setTimeout(() => {
      if (isAtVeryEnd(box)) moveTo(START_PLACE);
    }, MOVES_WITHIN_MS);
  }, [moveTo]);
  const onWheel = useCallback((event: WheelEvent) => event.deltaY < 0 && startUp(), [startUp]);
  const toBottom = useCallback(() => moveTo(START_PLACE), [moveTo]);
  const onKeyDown = useCallback(
    (event: KeyboardEvent) => {
      if (KEYS_UP.has(event.key)) startUp();
      // The focus is on the last message (list-keys.ts), which grows when its tools appear.
      if (event.key === 'End' && event.defaultPrevented) toBottom();
    },
    [startUp, toBottom],
  );
  return { outer, inner, place: shown, onScroll, onWheel, onKeyDown, toBottom, keepPlace: keepPlace.note };
}

/** Stores the position of the first row, and restores it once other rows were inserted before it. */
function useScrollAnchor(outer: { current: HTMLElement | null }) {
  const kept = useRef<{ rowKey: string; topPx: number } | undefined>(undefined);
  const rowOf = (rowKey: string) => outer.current?.querySelector(`[data-row-key="${CSS.escape(rowKey)}"]`);
  return {
    note(rowKey: string) {
      const row = rowOf(rowKey);
      kept.current = row ? { rowKey, topPx: row.getBoundingClientRect().top } : undefined;
    },
    restore(rowKeys: readonly string[]) {
      const box = outer.current;
      if (box === null || kept.current === undefined || rowKeys[0] === kept.current.rowKey) return;
      const topPx = rowOf(kept.current.rowKey)?.getBoundingClientRect().top ?? kept.current.topPx;
      box.scrollTop += topPx - kept.current.topPx;
      kept.current = undefined;
    },
  };
}
