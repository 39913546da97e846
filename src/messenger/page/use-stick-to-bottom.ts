import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { afterArrival, afterScroll, START_PLACE, type ReadingPlace } from './scroll-keeper.ts';

/** What the list needs to know of its newest row. */
export interface ListEnd {
  rowKeys: readonly string[];
  newestIsOwn: boolean;
}

/**
 * Keeps a scrolling list at its end while the reader is there, and counts what comes in while they read further up.
 * `outer` scrolls, `inner` grows. The list must be mounted anew for another conversation.
 */
export function useStickToBottom(end: ListEnd) {
  const outer = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const place = useRef<ReadingPlace>(START_PLACE);
  const lastTop = useRef(0);
  const known = useRef<ReadonlySet<string> | undefined>(undefined);
  const [shown, setShown] = useState<ReadingPlace>(START_PLACE);

  const moveTo = useCallback((next: ReadingPlace) => {
    place.current = next;
    setShown(next);
    const box = outer.current;
    if (box === null || !next.atBottom) return;
    box.scrollTop = box.scrollHeight;
    lastTop.current = box.scrollTop;
  }, []);

  useLayoutEffect(() => {
    const before = known.current;
    known.current = new Set(end.rowKeys);
    const count = before === undefined ? 0 : end.rowKeys.filter((key) => !before.has(key)).length;
    moveTo(afterArrival(place.current, { count, own: count > 0 && end.newestIsOwn }));
  });

  useEffect(() => {
    // Images that load, a code block that unfolds, a window or composer that changes its size.
    const observer = new ResizeObserver(() => moveTo(place.current));
    if (outer.current) observer.observe(outer.current);
    if (inner.current) observer.observe(inner.current);
    return () => observer.disconnect();
  }, [moveTo]);

  const onScroll = useCallback(() => {
    const box = outer.current;
    if (box === null) return;
    place.current = afterScroll(place.current, box, lastTop.current);
    lastTop.current = box.scrollTop;
    setShown(place.current);
  }, []);

  const toBottom = useCallback(() => moveTo(START_PLACE), [moveTo]);
  return { outer, inner, place: shown, onScroll, toBottom };
}
