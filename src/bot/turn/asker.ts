import type { TurnContext } from './turn-context.ts';
import type { Asker } from './turn-ports.ts';

/** The sender in the terms of the identity module. */
export function askerOf({ newest }: TurnContext): Asker {
  const { platform, tenant, app, sender } = newest;
  return { platform, tenant, app, chatUserId: sender.userId, displayName: sender.displayName };
}
