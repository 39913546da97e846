import { sha256Hex } from '../../../../shared/crypto/ids.ts';
import type { Chat } from '../../../domain/message.ts';
import type { PostResult } from '../../platform.ts';
import type { ReplyPlace, ReplyPlaces } from './reply-places.ts';

/** Data stored with a message to answer it later over the connection. */
interface LaterHandle {
  reqId: string;
  chat: Chat;
  userId: string;
}

export function laterHandleOf(handle: LaterHandle): string {
  return JSON.stringify(handle);
}

/**
 * Posts a further message below an answer, from any process: the holder of the connection is notified and sends it. It is
 * sent complete, as a separate stream of the same request, so that a repetition changes nothing.
 * @param later.name unique among the further messages of this handle
 * @returns `busy` until it is shown; call again with the same text or file. `refused`: it is not shown, and never will be
 */
export async function postLater(
  places: ReplyPlaces,
  later: { handle: string; name: string; shown: Pick<ReplyPlace, 'text' | 'file'> },
): Promise<PostResult> {
  const { handle, name, shown } = later;
  const read = readHandle(handle);
  if (!read) return 'refused';
  const id = `later-${sha256Hex(handle).slice(0, 40)}-${name}`;
  const place: ReplyPlace = { version: 1, ...read, streamId: id, ...shown };
  const state = await places.open(id, place, true).catch(() => undefined);
  return state === 'sent' || state === 'refused' ? state : 'busy';
}

function readHandle(handle: string): LaterHandle | undefined {
  try {
    const { reqId, chat, userId } = JSON.parse(handle) as Partial<LaterHandle>;
    return reqId !== undefined && chat !== undefined && userId !== undefined ? { reqId, chat, userId } : undefined;
  } catch {
    // A webhook handle, from before the connection was configured: an address.
    return undefined;
  }
}
