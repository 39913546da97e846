import { useEffect, useRef, useState } from 'preact/hooks';
import { BOT_SENDER, SYSTEM_SENDER } from './asker.ts';
import { plainText } from './markdown.ts';
import { rowKeyOf, type LoggedMessage, type MessageLog } from './message-log.ts';
import { failureText } from './message-row.tsx';
import { usePage, type PageContext } from './page-context.ts';

/**
 * Screen reader announcements for a conversation: each message of others once, when it is complete, and own messages that
 * were not sent. The list itself is silent, because a growing answer would be read again with every word. Initial and
 * earlier messages are not announced. The list must be remounted for another conversation.
 */
export function useAnnounced(log: MessageLog): string {
  const { person, bootstrap, say } = usePage();
  const [words, setWords] = useState('');
  const said = useRef<Set<string> | undefined>(undefined);
  const firstKey = useRef(log[0] && rowKeyOf(log[0]));
  useEffect(() => {
    const isSettled = ({ sender, state }: LoggedMessage) => state === (sender === person.id ? 'failed' : 'final');
    const known = said.current;
    if (known === undefined) {
      said.current = new Set(log.filter(isSettled).map(rowKeyOf));
      return;
    }
    const from = log.findIndex((message) => rowKeyOf(message) === firstKey.current);
    const fresh = log.slice(Math.max(0, from)).filter((message) => isSettled(message) && !known.has(rowKeyOf(message)));
    if (fresh.length === 0) return;
    fresh.forEach((message) => known.add(rowKeyOf(message)));
    setWords(fresh.map((message) => announcementOf(message, { person, bootstrap, say })).join('\n'));
  }, [log, person, bootstrap, say]);
  return words;
}

function announcementOf(
  message: LoggedMessage,
  { person, bootstrap, say }: Pick<PageContext, 'person' | 'bootstrap' | 'say'>,
) {
  const { sender, senderName, text, note = '' } = message;
  if (sender === person.id) return failureText(message, say);
  const words = [plainText(text), note].filter((part) => part !== '').join(' ') || say('image');
  if (sender === SYSTEM_SENDER) return words;
  return `${sender === BOT_SENDER ? bootstrap.botName : senderName}: ${words}`;
}
