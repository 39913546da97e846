import { personIdOf } from '../domain/conversation.ts';
import type { InboundMessage } from '../domain/message.ts';
import type { StopMark, WaitingMessage } from '../domain/turn.ts';

/** A stop ends only earlier questions of the same sender. */
export function stopAppliesTo({ seq: stopSeq, ownerId, deliveryId: only }: StopMark, turn: WaitingMessage[]): boolean {
  return turn.some(
    ({ seq, deliveryId, message }) =>
      (only === undefined ? seq < stopSeq : deliveryId === only) &&
      isStoppable(message) &&
      personIdOf(message, message.sender.userId) === ownerId,
  );
}

/** The stops that are recorded in the conversation's state and in the records of a turn's messages. */
export function stopMarksOf(
  { messages }: { messages: WaitingMessage[] },
  { stop, wasStopped }: { stop: StopMark; wasStopped: boolean },
): StopMark[] {
  const newest = messages.at(-1);
  if (!wasStopped || !newest) return [stop];
  const { deliveryId, message } = newest;
  return [stop, { seq: 0, ownerId: personIdOf(message, message.sender.userId), deliveryId }];
}

/** Questions and `/retry` can be stopped. The other slash commands finish at once. */
function isStoppable({ slash }: InboundMessage): boolean {
  return slash === undefined || slash.word === 'retry';
}
