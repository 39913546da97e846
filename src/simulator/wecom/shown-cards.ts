import type { StoredMessage } from '../stored-message.ts';
import type { Card } from './read-card.ts';

/**
 * Returns the message with a card that replaces its previous one.
 * @param isAlone whether the card is the whole message
 * @param people who see this card; defaults to everyone
 */
export function withCard(
  message: StoredMessage,
  { card, isAlone, people }: { card: Card; isAlone: boolean; people?: readonly string[] },
): StoredMessage {
  const drawn = {
    card: { ...card.view, isAlone: isAlone || undefined },
    buttons: card.buttons.length === 0 ? undefined : card.buttons.map((row) => row.map(({ view }) => view)),
    text: isAlone ? card.words : message.text,
  };
  const { all, own } = message.cards ?? { all: card.sent, own: {} };
  if (!people) return { ...message, ...drawn, cards: { all: card.sent, own: {} }, drawnFor: undefined };
  const forThem = <Value>(value: Value) => Object.fromEntries(people.map((id) => [id, value]));
  return {
    ...message,
    cards: { all, own: { ...own, ...forThem(card.sent) } },
    drawnFor: { ...message.drawnFor, ...forThem(drawn) },
  };
}

const MAX_TASK_IDS = 10_000;

/**
 * The message of each `task_id`, which must be unique among the bot's messages. In memory, because it is only used for
 * validation.
 */
export class TaskIds {
  readonly #messages = new Map<string, string>();

  /** @returns false if another message has it */
  take(taskId: string | undefined, messageId: string): boolean {
    if (taskId === undefined) return true;
    const owner = this.#messages.get(taskId) ?? messageId;
    this.#messages.set(taskId, owner);
    const [oldest] = this.#messages.keys();
    if (oldest !== undefined && this.#messages.size > MAX_TASK_IDS) this.#messages.delete(oldest);
    return owner === messageId;
  }
}
