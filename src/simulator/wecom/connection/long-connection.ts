import { inBackground } from '../../../shared/in-background.ts';
import { SECOND_MS } from '../../../shared/clock.ts';
import { randomToken } from '../../../shared/crypto/ids.ts';
import type { MessengerContext } from '../../protocol.ts';
import type { PlatformTransport, WayParts } from '../platform-transport.ts';
import { BotSockets } from './bot-sockets.ts';
import { Commands } from './commands.ts';
import { ConnectionCalls } from './connection-calls.ts';
import { CONNECTION_TIMING, type ConnectionTiming } from './connection-timing.ts';
import { ConversationLimits } from './conversation-limits.ts';
import { FrameAnswers } from './frame-answers.ts';
import { Requests } from './requests.ts';
import { UnreadMessages } from './unread-messages.ts';
import { Uploads } from './uploads.ts';

/** The bot's credentials for the long connection, and settings for undocumented behavior of the platform. */
export interface ConnectionOptions {
  botId: string;
  secret: string;
  timing?: Partial<ConnectionTiming>;
  /** Whether a req_id becomes invalid with the connection that delivered it (then error 846605). */
  forgetsRequests?: boolean;
  /** Whether a new subscription receives unanswered messages again. */
  resendsUnread?: boolean;
  /** Whether each snapshot of a stream counts towards the limits; otherwise a stream counts once. */
  countsFrames?: boolean;
  /** Whether messages omit their `response_url`. */
  withoutResponseUrl?: boolean;
}

/** Assembles the server side of the long connection. */
export function createLongConnection(
  options: ConnectionOptions,
  side: MessengerContext,
  parts: WayParts,
): PlatformTransport {
  const { botId, secret, forgetsRequests = false, resendsUnread = false, countsFrames = false } = options;
  const { redis, payloads, shown, interactions, userIds, bringAgain } = parts;
  const { nowMs, trace, background } = side;
  const timing = { ...CONNECTION_TIMING, ...options.timing };
  const requests = new Requests(redis, nowMs);
  const unread = new UnreadMessages({ trace, isResent: resendsUnread });
  const uploads = new Uploads(nowMs);
  const limits = new ConversationLimits(nowMs);
  const answers = new FrameAnswers({ side, shown, limits, timing, uploads, countsFrames });
  const commands = new Commands({ side, requests, unread, answers, uploads, userIds, forgetsRequests });
  const sockets = new BotSockets({
    side,
    timing,
    bot: { botId, secret },
    perform: (frame, connectionId) => commands.perform(frame, connectionId),
    farewell: () => farewellOf(botId, nowMs()),
    onSubscribed() {
      for (const messageId of unread.takeResent())
        inBackground(
          () => bringAgain(messageId),
          (error) => background.failed(error, 'a message could not be delivered again'),
        );
    },
    onGone(connectionId) {
      for (const messageId of unread.unreadOf(connectionId)) interactions.end(messageId);
    },
  });
  const { eventAnswerMs } = timing;
  const calls = new ConnectionCalls({ sockets, requests, unread, eventAnswerMs, signal: background.signal });
  sockets.clickCard = (personId, { cardType, eventKey, taskId }) => {
    const click = { card_type: cardType, event_key: eventKey, task_id: taskId };
    return calls.deliver(payloads.event(personId, { eventtype: 'template_card_event', template_card_event: click }));
  };
  return {
    client: calls,
    showLater: (question, whole) => answers.bring(question, whole),
    connections: sockets,
    findFile: (key) => uploads.findByKey(key),
    follow: (answer) => answers.follow(answer),
    async resume() {
      await requests.resume();
      answers.run();
    },
    // The bot sends each snapshot itself, and the last one before it exits.
    flushAnswers: () => Promise.resolve(),
    settled: () => answers.settled(),
  };
}

/** The connection was replaced by another. */
function farewellOf(botId: string, nowMs: number): object {
  return {
    cmd: 'aibot_event_callback',
    headers: { req_id: randomToken(18) },
    body: {
      msgid: randomToken(16),
      create_time: Math.floor(nowMs / SECOND_MS),
      aibotid: botId,
      msgtype: 'event',
      event: { eventtype: 'disconnected_event' },
    },
  };
}
