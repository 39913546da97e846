import { asError } from '../../../shared/coded-error.ts';
import type { Log } from '../../../shared/log.ts';
import type { ConversationRef } from '../../domain/conversation.ts';
import type { PersonId } from '../../domain/ids.ts';
import { personKey, type ChatPerson } from '../account.ts';
import { conversationFrom } from './releases.ts';
import { keys, type IdentityStore } from '../store.ts';

/** Which question waits for somebody's sign-in; one in a group is answered as long as it is not too old. */
export type WaitsFor = 'private' | 'group' | 'too-old-in-group' | 'nothing';

/** Whether whoever signs in now gets an answer by it. */
export function isAnswered(waitsFor: WaitsFor): boolean {
  return waitsFor === 'private' || waitsFor === 'group';
}

/** Looks what of one person is held in these conversations; given by the composition root. */
export type FindHeldMessages = (personId: PersonId, conversations: readonly ConversationRef[]) => Promise<WaitsFor>;

/** Which question waits for this person's sign-in. @throws IdentityError `store_away` */
export type FindWaiting = (person: ChatPerson) => Promise<WaitsFor>;

/**
 * What the pages may promise. That it cannot be seen is no reason to show no page: then nothing is promised.
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
      log.info({ error: asError(thrown) }, 'it could not be seen what waits for a sign-in');
      return 'nothing';
    });
  };
}
