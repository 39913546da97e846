import { CLAIM_NAME } from './claim-name.ts';
import { INBOX_ENTRY, LACKED_KEY } from './inbox-entry.ts';
import type { ScriptShape } from '../../shared/redis/script-shape.ts';

/** Keys, arguments and answer of claim.lua. */
export const CLAIM_SHAPE = {
  libraries: [INBOX_ENTRY, LACKED_KEY, CLAIM_NAME],
  keys: ['state', 'inbox', 'pending', 'held', 'history', 'notices', 'summary', 'leftovers'],
  args: [
    ...(['conversationId', 'maxMessages', 'maxTurns', 'messagePrefix', 'claim', 'maxHistoryBytes'] as const),
    ...(['epochStep', 'preferencesPrefix', 'preferencesLifeMs', 'wokenMs?', '...keyIds'] as const),
  ],
  answer: {
    verdict: ['nothing', 'claimed', 'lacks-key', 'begun'],
    lackedKeyId: 'text',
    epoch: 'number',
    turnId: 'text',
    crashes: 'number',
    crashedWorker: 'text',
    storedAnswer: 'text',
    stopSeq: 'number',
    stopOwner: 'text',
    stopServed: 'number',
    heldCount: 'number',
    startedAtMs: 'number',
    wasHandedOver: 'flag',
    entries: 'texts',
    history: 'texts',
    notices: 'texts',
    wasBegun: 'flag',
    preferences: 'texts',
    wasStopped: 'flag',
    redisNowMs: 'number',
    summary: 'text',
    historyLength: 'number',
    target: 'text',
    dueForMs: 'number',
    leftovers: 'texts',
    mayBeAnswered: 'flag',
    behind: 'texts',
    excusedUntilMs: 'number',
    wasHeldInGroup: 'flag',
  },
} as const satisfies ScriptShape;
