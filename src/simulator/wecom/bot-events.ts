import { DAY_MS, HOUR_MS, SECOND_MS } from '../../shared/clock.ts';
import type { RatingReason } from '../api.ts';
import { privateConversationId } from '../directory.ts';
import { MessengerError } from '../messenger-error.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import type { MessengerContext, Rating, RatingDetails } from '../protocol.ts';
import type { StoredMessage } from '../stored-message.ts';
import type { BotTransport } from './bot-transport.ts';
import { readReply } from './read-reply.ts';
import type { ShownAnswers } from './shown-answers.ts';

/** Codes of `feedback_event` (PLATFORM_FACTS.md wecom-events). */
const FEEDBACK_TYPES: Readonly<Record<Rating, number>> = { good: 1, bad: 2, withdrawn: 3 };
const REASONS: Readonly<Record<RatingReason, number>> = { irrelevant: 1, incomplete: 2, wrong: 3, analysis: 4 };
/** The platform's days are in Chinese time. */
const DAY_OFFSET_MS = 8 * HOUR_MS;

/** Events for the bot: a person enters the chat, a person rates an answer. */
export class BotEvents {
  readonly #side: MessengerContext;
  readonly #transport: Pick<BotTransport, 'client' | 'payloads'>;
  readonly #redis: RedisClient;
  readonly #shown: Pick<ShownAnswers, 'welcome'>;
  /** People who opened the chat while the bot was unreachable; the bot is notified when it is back. */
  readonly #waiting = new Set<string>();

  constructor(
    side: MessengerContext,
    line: Pick<BotTransport, 'client' | 'payloads'>,
    { redis, shown }: { redis: RedisClient; shown: Pick<ShownAnswers, 'welcome'> },
  ) {
    this.#side = side;
    this.#transport = line;
    this.#redis = redis;
    this.#shown = shown;
  }

  /**
   * A person opens the private chat. The bot is notified the first time on a day; its response is a welcome line, or a card.
   */
  async enterChat(personId: string): Promise<void> {
    this.#side.directory.person(personId);
    if (!this.#side.bot.isReachable()) return void this.#waiting.add(personId);
    const day = Math.floor((this.#side.nowMs() + DAY_OFFSET_MS) / DAY_MS);
    const isFirst = await this.#redis.set(
      `messenger:entered:${personId}:${day}`,
      '1',
      'EX',
      (2 * DAY_MS) / SECOND_MS,
      'NX',
    );
    if (isFirst === null) return;
    const result = await this.#transport.client.deliver(
      this.#transport.payloads.event(personId, { eventtype: 'enter_chat' }),
    );
    if (result.kind !== 'reply') return;
    const reply = readReply(result.reply);
    const place = privateConversationId(personId);
    if (reply.kind === 'text') await this.#side.chatLog.writeSystemLine(place, reply.content);
    else if (reply.kind === 'card') await this.#shown.welcome(place, reply.card);
    else
      this.#side.trace.recordViolation(
        reply.kind === 'refused' ? reply.reason : 'only a text or a card may answer the entry into a chat',
      );
  }

  /** Notifies the bot of people who opened the chat while it was unreachable. */
  async onBotReconnected(): Promise<void> {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    await Promise.all(waiting.map((personId) => this.enterChat(personId)));
  }

  /**
   * Rates an answer, or withdraws the rating. The app asks for reasons of a bad rating.
   * @throws MessengerError `not_found`, `bad_request` if it cannot be rated
   */
  async rate(personId: string, messageId: string, rating: Rating, why: RatingDetails = {}): Promise<StoredMessage> {
    const { store, directory, chatLog, trace } = this.#side;
    const { client, payloads } = this.#transport;
    const message = await store.get(messageId);
    directory.conversationOf(personId, message.conversationId);
    const feedbackId = message.answer?.feedbackId;
    if (feedbackId === undefined || message.state !== 'final') {
      throw new MessengerError('bad_request', 'This message cannot be rated');
    }
    const reasons = why.reasons?.map((reason) => REASONS[reason]) ?? [];
    const words = why.words?.trim() ?? '';
    if (rating !== 'bad' && (reasons.length > 0 || words !== ''))
      throw new MessengerError('bad_request', 'Reasons are for a bad answer');
    const { rating: _earlier, ...rest } = message;
    const rated: StoredMessage = rating === 'withdrawn' ? rest : { ...rest, rating };
    await chatLog.write(rated, true);
    const feedback = {
      id: feedbackId,
      type: FEEDBACK_TYPES[rating],
      content: words === '' ? undefined : words,
      inaccurate_reason_list: reasons.length === 0 ? undefined : reasons,
    };
    const { conversationId } = message;
    const event = { eventtype: 'feedback_event', feedback_event: feedback };
    const result = await client.deliver(payloads.event(personId, event, { conversationId }));
    if (result.kind === 'reply') trace.recordViolation('feedback may only be answered by nothing');
    return rated;
  }
}
