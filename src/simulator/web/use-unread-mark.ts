import { useEffect, useRef, useState } from 'preact/hooks';
import { rowKeyOf, type MessageLog } from './message-log.ts';

/**
 * The first row that was unread when the conversation was opened, or when the reader returned to the window. It stays until
 * the reader sends a message. The list must be remounted for another conversation.
 * @param unread number of unread messages
 */
export function useUnreadMark(unread: number, log: MessageLog, person: string): string | undefined {
  const [markedKey, setMarkedKey] = useState(() => firstUnread(unread, log));
  const newest = useRef(log.at(-1));
  newest.current = log.at(-1);
  const seenKey = useRef<string | undefined>(undefined);
  const rows = useRef(log);
  rows.current = log;

  useEffect(() => {
    const follow = () => {
      if (document.visibilityState !== 'visible') {
        seenKey.current = newest.current && rowKeyOf(newest.current);
        return;
      }
      const at = rows.current.findIndex((message) => rowKeyOf(message) === seenKey.current);
      const next = at < 0 ? undefined : rows.current[at + 1];
      if (next) setMarkedKey(rowKeyOf(next));
    };
    document.addEventListener('visibilitychange', follow);
    return () => document.removeEventListener('visibilitychange', follow);
  }, []);

  const at = log.findIndex((message) => rowKeyOf(message) === markedKey);
  const isWrittenOn = at >= 0 && log.slice(at).some(({ sender }) => sender === person);
  return isWrittenOn ? undefined : markedKey;
}

function firstUnread(unread: number, log: MessageLog): string | undefined {
  // If nothing was ever read, everything is new, and a marker above all of it would be useless.
  const first = unread > 0 && unread < log.length ? log.at(-unread) : undefined;
  return first && rowKeyOf(first);
}
