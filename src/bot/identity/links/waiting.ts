import { asError } from '../../../shared/coded-error.ts';
import type { Log } from '../../../shared/log.ts';
import type { ConversationRef } from '../../domain/conversation.ts';
import type { PersonId } from '../../domain/ids.ts';
import { personKey, type ChatPerson } from '../account.ts';
import { conversationFrom } from './releases.ts';
import { keys, type IdentityStore } from '../store.ts';

/** Where a question waits for the user's sign-in. A group question is answered only if it is recent enough. */
export type WaitsFor = 'private' | 'group' | 'too-old-in-group' | 'nothing';

/** Whether signing in now leads to an answer. */
export function isAnswered(waitsFor: WaitsFor): boolean {
  return waitsFor === 'private' || waitsFor === 'group';
}

/** Finds a person's held messages in these conversations. Implemented by the composition root. */
export type FindHeldMessages = (personId: PersonId, conversations: readonly ConversationRef[]) => Promise<WaitsFor>;

/** Where a question waits for this user's sign-in. @throws IdentityError `store_away` */
export type FindWaiting = (person: ChatPerson) => Promise<WaitsFor>;

/**
 * Determines what the pages may promise. If the held messages cannot be read, promises nothing instead of failing.
 * @throws IdentityError `store_away`
 */
export function createWaitsFor(
  store: IdentityStore,
  { lookForHeld, log }: { lookForHeld: FindHeldMessages | undefined; log: Log },
): FindWaiting {
  return async (person) => {
    const personId = personKey(person);
    const waiting = await store.withDeadline((redis) => redis.smembers(keys.waiting(personId)));
    if (!lookForHeld || waiting.length === 0) return 'nothing';
    return lookForHeld(personId, waiting.map(conversationFrom)).catch((thrown: unknown) => {
      log.info({ error: asError(thrown) }, 'the messages waiting for a sign-in could not be read');
      return 'nothing';
    });
  };
}
