import type { SlackApi } from './platform-api.ts';
import { REMOVED_EVENT } from './post-answer.ts';
import { readHandle } from './reply-target.ts';

/**
 * Ends a message's stream, if it is one, and deletes it. The end marks it first, so that a worker that follows a crash in
 * between knows it for what it is. A stray that is no growing stream is left alone: whoever else uses our token may have said it.
 */
export async function removeAnswer(
  api: SlackApi,
  handle: string,
  isStray: boolean,
): Promise<'gone' | 'left' | 'later'> {
  const { channel, ts } = readHandle(handle);
  const metadata = { event_type: REMOVED_EVENT, event_payload: {} };
  const ended = await api.call('chat.stopStream', { channel, ts, metadata });
  if (ended.kind !== 'ok' && ended.kind !== 'error') return 'later';
  if (ended.kind === 'error' && isStray) return 'left';
  const deleted = await api.call('chat.delete', { channel, ts });
  if (deleted.kind === 'error') return deleted.error === 'message_not_found' ? 'gone' : 'left';
  return deleted.kind === 'ok' ? 'gone' : 'later';
}
