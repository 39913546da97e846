import { useEffect, useState } from 'preact/hooks';
import type { PaintCode } from './code-block.ts';

let loaded: PaintCode | undefined;

/**
 * The code highlighter, once it is needed and loaded: it is as large as the rest of the page, and most conversations do not
 * need it.
 */
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
      () => undefined, // Code stays readable without it.
    );
    return () => void (isMounted = false);
  }, [isWanted, paint]);
  return paint;
}
