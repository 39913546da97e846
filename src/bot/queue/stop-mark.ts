import { personIdOf } from '../domain/conversation.ts';
import type { InboundMessage } from '../domain/message.ts';
import type { StopMark, WaitingMessage } from '../domain/turn.ts';

/** A stop ends what its own sender asked before it; nobody stops another's question. */
export function isMeantBy({ seq: stopSeq, ownerId, deliveryId: only }: StopMark, turn: WaitingMessage[]): boolean {
  return turn.some(
    ({ seq, deliveryId, message }) =>
      (only === undefined ? seq < stopSeq : deliveryId === only) &&
      isStoppable(message) &&
      personIdOf(message, message.sender.userId) === ownerId,
  );
}

/** What the conversation's state and the records of a turn's messages say of stops, as marks. */
export function marksOf(
  { messages }: { messages: WaitingMessage[] },
  { stop, wasStopped }: { stop: StopMark; wasStopped: boolean },
): StopMark[] {
  const newest = messages.at(-1);
  if (!wasStopped || !newest) return [stop];
  const { deliveryId, message } = newest;
  return [stop, { seq: 0, ownerId: personIdOf(message, message.sender.userId), deliveryId }];
}

/** Questions, and the word that asks one again, can be stopped; the other slash words are over at once. */
function isStoppable({ slash }: InboundMessage): boolean {
  return slash === undefined || slash.word === 'retry';
}
