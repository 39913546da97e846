import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { openLeftover, type Leftover } from '../reply/follow-ups/deferred-messages.ts';
import type { TurnContext } from './turn-context.ts';
import type { TurnCommit } from '../domain/turn.ts';
import type { Outcome } from './outcome.ts';

/** Text left by an earlier answer for the person's next private reply. None in a group or while a question is held. */
export function leftoverFor(keyRing: KeyRing, { newest, turn }: TurnContext, { hold }: Outcome): Leftover | undefined {
  if (newest.chat.kind !== 'private' || hold) return undefined;
  return openLeftover(keyRing, turn.conversation, turn.leftovers);
}

/** Prepends the leftover text to the reply. */
export function behindLeftover(leftover: Leftover | undefined, text: string): string {
  return leftover ? `${leftover.text}\n\n---\n\n${text}` : text;
}

/** Data erased by the commit: the leftover that was just shown; with /forget, all leftovers. */
export function eraseWith(leftover: Leftover | undefined, erase: TurnCommit['erase']): TurnCommit['erase'] {
  if (!leftover) return erase;
  const { list, record } = leftover;
  if (erase) return { ...erase, drop: [...erase.drop, list] };
  return { remove: [{ list, record }], drop: [] };
}
