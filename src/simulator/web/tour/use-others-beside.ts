import { useEffect, useState } from 'preact/hooks';

const CHANNEL = 'parley-people';

/** Whether another tab of this browser is, or was, another person while this tab is open. */
export function useOthersBeside(personId: string): boolean {
  const [isBeside, setBeside] = useState(false);
  useEffect(() => {
    if (typeof BroadcastChannel === 'undefined') return;
    const channel = new BroadcastChannel(CHANNEL);
    channel.onmessage = ({ data }: MessageEvent<{ person: string; asks: boolean }>) => {
      if (data.person !== personId) setBeside(true);
      if (data.asks) channel.postMessage({ person: personId, asks: false });
    };
    channel.postMessage({ person: personId, asks: true });
    return () => channel.close();
  }, [personId]);
  return isBeside;
}
