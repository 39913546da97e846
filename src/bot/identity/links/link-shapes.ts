import type { ScriptShape } from '../../../shared/redis/script-shape.ts';
import { CHANGED_LIFE_MS } from '../store.ts';

// The arguments of the link and unlink scripts. They are remembered so that a change lost in a failover can be restored.

export const COMMIT_LINK_SHAPE = {
  constants: { CHANGED_LIFE_MS },
  keys: [
    ...(['ticket', 'quarantine', 'link', 'holder', 'waiting', 'liveTicket'] as const),
    ...(['releases', 'rechecks', 'outcomes', 'changed'] as const),
  ],
  args: [
    ...([
      'nowMs',
      'cookieHash',
      'quarantineRead',
      'person',
      'accountKey',
      'newQuarantine',
      'quarantineLifeMs',
    ] as const),
    ...(['linkLifeMs', 'releaseLifeMs', 'releaseIdPrefix', 'releasePrefix', 'linkPrefix', 'nextCheckAtMs'] as const),
    ...(['codeMac?', 'messageId?', 'language', 'maxWrongCodes', 'outcomeLifeMs', 'callName', 'madeAtMs?'] as const),
    ...(['linkedAtMs', '...fields'] as const),
  ],
  // Stored with invitations and message outcomes and read by older versions, so the order must not change.
  answer: {
    kind: ['linked', 'linked-before', 'gone', 'already-linked', 'held-elsewhere', 'wrong', 'known'],
    detail: 'text',
    releases: '...texts',
  },
} as const satisfies ScriptShape;

export const UNLINK_SHAPE = {
  constants: { CHANGED_LIFE_MS },
  keys: ['link', 'rechecks', 'outcome', 'changed'],
  args: ['person', 'holderPrefix', 'outcomeLifeMs', 'undoneAtMs?', 'outcomeThen?'],
  answer: { wasLinked: 'flag', undoneAtMs: 'number' },
} as const satisfies ScriptShape;
