import { loadLibrary } from '../../shared/redis/lua-script.ts';
import { asConversationId, asDeliveryId, asPersonId, type ConversationId } from './ids.ts';
import type { StopMark } from './turn.ts';

/** Channel for news for running turns: `conversation:seq:owner`, `conversation:0:owner:delivery`, `conversation:amended`. */
export const STOP_CHANNEL = 'parley:stop';

/** `tellTurn` for scripts. */
export const TURN_NEWS = loadLibrary(import.meta.url, './scripts/library/turn-news.lua', { STOP_CHANNEL });

/** News for a running turn: a stop, or a change of its question. */
export type TurnNews = StopMark | 'amended';

/** Reads a text that the scripts have published. */
export function readTurnNews(text: string): { conversationId: ConversationId; news: TurnNews } {
  const [conversationId = '', seq = '', ownerId = '', deliveryId] = text.split(':');
  const only = deliveryId === undefined ? undefined : asDeliveryId(deliveryId);
  const stop = { seq: Number(seq), ownerId: asPersonId(ownerId), deliveryId: only };
  return { conversationId: asConversationId(conversationId), news: seq === 'amended' ? seq : stop };
}
