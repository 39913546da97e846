import type { RemovalResult } from '../platform.ts';
import type { SlackResponse, SlackApi } from './platform-api.ts';
import { REMOVED_EVENT } from './post-answer.ts';
import { readHandle } from './reply-target.ts';

/**
 * Ends a message's stream, if there is one, and deletes the message. Ending the stream also marks the message, so that a
 * worker that follows a crash recognises it. A stray that is not a growing stream is left alone, because another user of the
 * token may have posted it.
 */
export async function removeAnswer(api: SlackApi, handle: string, isStray: boolean): Promise<RemovalResult> {
  const { channel, ts } = readHandle(handle);
  const metadata = { event_type: REMOVED_EVENT, event_payload: {} };
  const ended = await api.call('chat.stopStream', { channel, ts, metadata });
  if (ended.kind !== 'ok' && ended.kind !== 'error') return 'later';
  if (ended.kind === 'error' && isStray) return refusalOf(ended);
  const deleted = await api.call('chat.delete', { channel, ts });
  if (deleted.kind === 'error') return deleted.error === 'message_not_found' ? 'gone' : refusalOf(deleted);
  return deleted.kind === 'ok' ? 'gone' : 'later';
}

function refusalOf({ meaning }: Extract<SlackResponse, { kind: 'error' }>): 'left' | 'refused' {
  return meaning === 'transient' ? 'refused' : 'left';
}
