import { randomToken } from '../../shared/crypto/ids.ts';
import { MessengerError } from '../messenger-error.ts';
import type { MessengerContext, Rating } from '../protocol.ts';
import { isSeenBy, type StoredMessage } from '../stored-message.ts';
import type { BotMessages } from './bot-messages.ts';
import { clickPayload } from './click-payload.ts';
import type { EventClient } from './event-client.ts';
import { findButton, type SlackButton } from './read-buttons.ts';
import type { Responses } from './responses.ts';
import type { TsClock } from './workspace.ts';

export interface PressParts {
  client: EventClient;
  clock: TsClock;
  responses: Responses;
  answers: BotMessages;
}

/**
 * People's presses of the bot's buttons. The app is notified once; without an acknowledgement within three seconds the press
 * has failed.
 */
export class Presses {
  readonly #side: MessengerContext;
  readonly #parts: PressParts;

  constructor(side: MessengerContext, parts: PressParts) {
    this.#side = side;
    this.#parts = parts;
  }

  /** @throws MessengerError `not_found`, `not_taken` */
  async press(personId: string, messageId: string, wanted: string): Promise<StoredMessage> {
    const message = await this.#seen(personId, messageId);
    const button = findButton(message.slack?.blocks, wanted);
    if (!button) throw new MessengerError('not_found', 'No such button');
    await this.#notifyBot(personId, message, button);
    if (button.view.kind === 'good' || button.view.kind === 'bad')
      await this.#parts.answers.notePressed(messageId, personId, button.view.id);
    // The press may have deleted the message.
    return this.#side.store.get(messageId).catch(() => message);
  }

  /**
   * Rates with the thumbs that the bot put below its answer. Slack cannot withdraw a rating. @throws MessengerError like
   * `press`, and `bad_request`
   */
  async rate(personId: string, messageId: string, rating: Rating): Promise<StoredMessage> {
    const message = await this.#seen(personId, messageId);
    const thumb = findButton(message.slack?.blocks, rating);
    if (thumb?.view.kind !== rating) throw new MessengerError('bad_request', 'This message cannot be rated');
    return this.press(personId, messageId, thumb.view.id);
  }

  async #seen(personId: string, messageId: string): Promise<StoredMessage> {
    const { store, directory } = this.#side;
    const message = await store.get(messageId);
    directory.conversationOf(personId, message.conversationId);
    if (message.sender !== 'bot' || !isSeenBy(message, personId))
      throw new MessengerError('not_found', 'No such message');
    return message;
  }

  async #notifyBot(personId: string, message: StoredMessage, button: SlackButton): Promise<void> {
    const { client, clock, responses } = this.#parts;
    const conversation = this.#side.directory.conversation(message.conversationId);
    const { kind } = await client.deliverClick(
      clickPayload(message, conversation, {
        personId,
        button,
        actionTs: clock.next(),
        responseUrl: responses.createForClick(message, personId),
        triggerId: randomToken(12),
      }),
    );
    if (kind !== 'silent') throw new MessengerError('not_taken', 'The bot did not accept it');
  }
}
