import { useEffect, useState } from 'preact/hooks';
import type { PaintCode } from './code-block.ts';

let loaded: PaintCode | undefined;

/** What colours code, once it is wanted and loaded: it is as large as the rest of the page, and most conversations need none of it. */
export function useCodePaint(isWanted: boolean): PaintCode | undefined {
  const [paint, setPaint] = useState(() => loaded);
  useEffect(() => {
    if (!isWanted || paint !== undefined) return;
    let isMounted = true;
    import('./code-paint.ts').then(
      ({ paintCode }) => {
        loaded = paintCode;
        if (isMounted) setPaint(() => paintCode);
      },
      () => undefined, // Code stays as legible as it is.
    );
    return () => void (isMounted = false);
  }, [isWanted, paint]);
  return paint;
}
