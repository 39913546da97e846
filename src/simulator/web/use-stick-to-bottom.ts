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

/** What the list needs to know of its rows. */
export interface ListRows {
  rowKeys: readonly string[];
  newestIsOwn: boolean;
  /** What stands there before anybody wrote is read from its beginning. */
  isFirstRun: boolean;
}

/** A wheel's notch or a key has moved the list by then, if it moves it at all. */
const MOVES_WITHIN_MS = 300;
const KEYS_UP = new Set(['PageUp', 'Home', 'ArrowUp']);

/**
 * Keeps a scrolling list at its end while the reader is there, and counts what comes in while they read further up. What is put
 * before the first row moves nothing that is seen. `outer` scrolls, `inner` grows. The list must be mounted anew for another
 * conversation.
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

  const keepPlace = useKeptPlace(outer);
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
    // Images that load, a code block that unfolds, a window or composer that changes its size.
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

  /** The browser moves the list in small steps, and gives that up as soon as a growing answer moves it. */
  const startUp = useCallback(() => {
    const box = outer.current;
    if (box === null) return;
    moveTo(afterStartUp(place.current, box));
    setTimeout(() => {
      if (isAtVeryEnd(box)) moveTo(START_PLACE);
    }, MOVES_WITHIN_MS);
  }, [moveTo]);
  const onWheel = useCallback((event: WheelEvent) => event.deltaY < 0 && startUp(), [startUp]);
  const onKeyDown = useCallback((event: KeyboardEvent) => KEYS_UP.has(event.key) && startUp(), [startUp]);

  const toBottom = useCallback(() => moveTo(START_PLACE), [moveTo]);
  return { outer, inner, place: shown, onScroll, onWheel, onKeyDown, toBottom, keepPlace: keepPlace.note };
}

/** Remembers where the first row is seen, and puts it there again once others stand before it. */
function useKeptPlace(outer: { current: HTMLElement | null }) {
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
