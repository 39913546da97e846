import { expect, test } from '@jest/globals';
import { conversationOf, deliveryIdOf, personIdOf } from '../../../src/bot/domain/conversation.ts';
import {
  asPersonId,
  type AccountId,
  type ConversationId,
  type DeliveryId,
  type PersonId,
} from '../../../src/bot/domain/ids.ts';
import { messageKey, usageKey } from '../../../src/bot/domain/partition-keys.ts';
import { textMessage } from '../../support/messages.ts';

/** Each line below a `@ts-expect-error` must fail to compile: the type check rejects a directive without an error. */
test('the compiler rejects one kind of id in place of another', () => {
  const message = textMessage('q');
  const conversation: ConversationId = conversationOf(message, 'member').id;
  const person: PersonId = personIdOf(message, message.sender.userId);
  const delivery: DeliveryId = deliveryIdOf(message);
  const wrong = [
    // @ts-expect-error a person is no conversation
    { id: person, partition: 1 } satisfies { id: ConversationId; partition: number },
    // @ts-expect-error a conversation is no delivery
    messageKey(1, conversation),
    // @ts-expect-error a delivery is no person
    usageKey(1, delivery, '2030-01'),
    // @ts-expect-error a person is no account
    person satisfies AccountId,
    // @ts-expect-error what is only a text is no id
    messageKey(1, 'text'),
  ];
  expect(wrong).toHaveLength(5);
  expect(asPersonId(String(person))).toBe(person);
  expect([conversation.length, person.length, delivery.length]).toEqual([32, 32, 40]);
});
