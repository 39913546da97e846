import { useCallback, useEffect, useState } from 'preact/hooks';

/**
 * The conversation that the person opened: stored in the address's fragment, so that the browser's Back button returns to
 * the list on phones, and a reload keeps it.
 */
export function useOpenConversation() {
  const [conversationId, setConversationId] = useState(readFragment);
  useEffect(() => {
    const follow = () => setConversationId(readFragment());
    window.addEventListener('popstate', follow);
    return () => window.removeEventListener('popstate', follow);
  }, []);
  const open = useCallback((id: string) => {
    const isFirst = readFragment() === undefined;
    const address = `#${encodeURIComponent(id)}`;
    if (isFirst) history.pushState(null, '', address);
    else history.replaceState(null, '', address);
    setConversationId(id);
  }, []);
  const back = useCallback(() => {
    history.replaceState(null, '', location.pathname + location.search);
    setConversationId(undefined);
  }, []);
  return { conversationId, open, back };
}

function readFragment(): string | undefined {
  const fragment = location.hash.slice(1);
  if (fragment === '') return undefined;
  try {
    return decodeURIComponent(fragment);
  } catch {
    return undefined;
  }
}
