import { INBOX_ENTRY } from './inbox-entry.ts';
import { TURN_NEWS } from '../domain/turn-news.ts';
import type { ArgsOf, KeysOf, ScriptShape } from '../../shared/redis/script-shape.ts';

/**
 * Keys, arguments and answer of accept.lua. Receivers keep the keys and arguments to store a message again after a failover.
 */
export const ACCEPT_SHAPE = {
  libraries: [INBOX_ENTRY, TURN_NEWS],
  keys: ['record', 'inbox', 'state', 'pending', 'personRate', 'chatRate?'],
  args: [
    ...(['deliveryId', 'conversationId', 'owner', 'mergeKey', 'sealed'] as const),
    ...(['command', 'isAnswerableLater', 'isOverLimit'] as const),
    ...(['opener', 'target', 'saidAtMs?', 'chatOrder?', 'takenBeforeMs?', 'history?'] as const),
  ],
  answer: { result: ['new', 'repeat', 'limited', 'full'], takenAtMs: 'number', history: 'text' },
} as const satisfies ScriptShape;

export type AcceptKeys = KeysOf<typeof ACCEPT_SHAPE>;
export type AcceptArgs = ArgsOf<typeof ACCEPT_SHAPE>;
