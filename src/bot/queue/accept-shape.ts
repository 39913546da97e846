import type { ArgsOf, KeysOf, ScriptShape } from '../../shared/redis/script-shape.ts';

/** What accept.lua is given, which a receiver keeps for the case that a failover takes it back, and what it answers. */
export const ACCEPT_SHAPE = {
  keys: ['record', 'inbox', 'state', 'pending', 'personRate', 'chatRate?'],
  args: [
    ...(['deliveryId', 'conversationId', 'owner', 'mergeKey', 'words', 'sealed'] as const),
    ...(['opener', 'target', 'saidAtMs?', 'chatOrder?'] as const),
  ],
  answer: { result: ['new', 'repeat', 'limited'], takenAtMs: 'number' },
} as const satisfies ScriptShape;

export type AcceptKeys = KeysOf<typeof ACCEPT_SHAPE>;
export type AcceptArgs = ArgsOf<typeof ACCEPT_SHAPE>;
