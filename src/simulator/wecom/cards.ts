import { MessengerError } from '../messenger-error.ts';
import type { MessengerContext, Protocol } from '../protocol.ts';
import type { StoredMessage } from '../stored-message.ts';
import type { BotTransport } from './bot-transport.ts';
import { findCardButton, readCard, type Card } from './read-card.ts';
import type { ResponseUrls } from './response-urls.ts';
import { withCard } from './shown-cards.ts';
import type { UserIds } from './user-ids.ts';

export interface CardsParts {
  line: Pick<BotTransport, 'client' | 'payloads'>;
  responseUrls: ResponseUrls;
  userIds: UserIds;
  /** Sends a message as a person. */
  send: Protocol['send'];
}

/**
 * People's presses on the bot's cards (PLATFORM_FACTS.md wecom-cards). The bot is notified once, and may update the card in
 * its response.
 */
export class Cards {
  readonly #side: MessengerContext;
  readonly #parts: CardsParts;

  constructor(side: MessengerContext, parts: CardsParts) {
    this.#side = side;
    this.#parts = parts;
  }

  /** @throws MessengerError `not_found`, `bad_request` for a disabled button, `not_taken` */
  async press(personId: string, messageId: string, wanted: string): Promise<StoredMessage> {
    const { store, directory, bot } = this.#side;
    const message = await store.get(messageId);
    const conversation = directory.conversationOf(personId, message.conversationId);
    const read = readCard(message.cards?.own[personId] ?? message.cards?.all);
    const button = 'card' in read ? findCardButton(read.card, wanted) : undefined;
    if (!button || !('card' in read)) throw new MessengerError('not_found', 'No such button');
    if (button.view.isOff === true) throw new MessengerError('bad_request', 'This cannot be pressed');
    const { press } = button;
    if (press.kind === 'question') {
      const text = conversation.kind === 'group' ? `@${bot.name} ${press.text}` : press.text;
      await this.#parts.send({ person: personId, conversationId: conversation.id, text, imageIds: [] });
    }
    if (press.kind === 'event') await this.#notifyBot(personId, message, { card: read.card, key: press.key });
    return store.get(messageId);
  }

  async #notifyBot(
    personId: string,
    message: StoredMessage,
    { card, key }: { card: Card; key: string },
  ): Promise<void> {
    const { line, responseUrls } = this.#parts;
    const click = { card_type: card.type, event_key: key, task_id: card.taskId };
    const result = await line.client.callOnce(
      line.payloads.event(
        personId,
        { eventtype: 'template_card_event', template_card_event: click },
        { conversationId: message.conversationId, responseCode: await responseUrls.create(message) },
      ),
    );
    if (result.kind === 'reply') return this.#change(message.id, card, result.reply);
    if (result.kind === 'invalid') this.#side.trace.recordViolation(result.reason);
    else if (result.kind !== 'silent') throw new MessengerError('not_taken', 'The bot did not accept it');
  }

  async #change(messageId: string, card: Card, reply: unknown): Promise<void> {
    const { store, chatLog, directory, trace } = this.#side;
    const {
      response_type: kind,
      template_card: sent,
      userids: ids,
    } = (reply ?? {}) as Readonly<Record<string, unknown>>;
    if (kind !== 'update_template_card') return trace.recordViolation('only an update may answer a press on a card');
    const read = readCard(sent);
    if ('refused' in read) return trace.recordViolation(read.refused);
    if (read.card.taskId !== card.taskId) return trace.recordViolation('an update has another task_id than its card');
    const message = await store.get(messageId);
    // A private chat has no other members.
    const isForSome = Array.isArray(ids) && directory.conversation(message.conversationId).kind === 'group';
    const people = isForSome ? ids.flatMap((id) => this.#parts.userIds.findForBot(String(id))?.id ?? []) : undefined;
    await chatLog.write(withCard(message, { card: read.card, isAlone: message.card?.isAlone === true, people }), true);
  }
}
