import { useEffect, useState } from 'preact/hooks';

/** The current time, updated every `everyMs` while `active`; the component re-renders with it. */
export function useNow(everyMs: number, active = true): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    if (!active) return;
    setNowMs(Date.now());
    const timer = setInterval(() => setNowMs(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs, active]);
  return nowMs;
}
