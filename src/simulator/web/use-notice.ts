import { useCallback, useEffect, useState } from 'preact/hooks';

const SHOWN_MS = 4_000;

/** A short text that disappears automatically, and a function that shows one. */
export function useNotice(): [string | undefined, (text: string) => void] {
  const [notice, setNotice] = useState<{ text: string } | undefined>(undefined);
  const notify = useCallback((text: string) => setNotice({ text }), []);
  useEffect(() => {
    if (notice === undefined) return;
    const timer = setTimeout(() => setNotice(undefined), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [notice]);
  return [notice?.text, notify];
}
