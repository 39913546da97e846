import { sha256Hex } from '../../../../shared/crypto/ids.ts';
import type { Chat } from '../../../domain/message.ts';
import type { AnswerFile, PostResult } from '../../platform.ts';
import type { ReplyPlace, ReplyPlaces } from './reply-places.ts';

/** What is kept of a message, so that it can be answered later over the connection. */
interface LaterHandle {
  reqId: string;
  chat: Chat;
  userId: string;
}

export function laterHandleOf(handle: LaterHandle): string {
  return JSON.stringify(handle);
}

/**
 * Posts a further message below an answer, from any process: whoever holds the connection is told and sends it. It goes as a stream
 * of its own of the same request, whole, so that sending it again changes nothing.
 * @param part which of the further messages of this handle it is, from 0
 * @returns `busy` until it stands; to be asked again with the same text
 */
export async function postLater(
  places: ReplyPlaces,
  { handle, text, part }: { handle: string; text: string; part: number },
): Promise<PostResult> {
  return openLater(places, { handle, name: String(part), shown: { text } });
}

/** Shows a file below an answer, as `postLater` does a message. `refused` means that it stands nowhere, and will not. */
export async function postFileLater(
  places: ReplyPlaces,
  { handle, file }: { handle: string; file: AnswerFile },
): Promise<PostResult> {
  return openLater(places, { handle, name: 'file', shown: { file } });
}

async function openLater(
  places: ReplyPlaces,
  { handle, name, shown }: { handle: string; name: string; shown: Pick<ReplyPlace, 'text' | 'file'> },
): Promise<PostResult> {
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
    // A handle of the webhook, from before the connection was chosen: an address.
    return undefined;
  }
}
