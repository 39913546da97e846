import { inBackground } from '../../../shared/in-background.ts';
import { SECOND_MS } from '../../../shared/clock.ts';
import { randomToken } from '../../../shared/crypto/ids.ts';
import type { RedisClient } from '../../../shared/redis/redis.ts';
import type { MessengerSide } from '../../protocol.ts';
import type { Interactions } from '../interactions.ts';
import type { ShownAnswers } from '../shown-answers.ts';
import type { UserIds } from '../user-ids.ts';
import { BotSockets } from './bot-sockets.ts';
import { Commands } from './commands.ts';
import { ConnectionCalls } from './connection-calls.ts';
import { CONNECTION_TIMING, type ConnectionTiming } from './connection-timing.ts';
import { ConversationLimits } from './conversation-limits.ts';
import { FrameAnswers } from './frame-answers.ts';
import { Requests } from './requests.ts';
import { UnreadMessages } from './unread-messages.ts';
import { Uploads } from './uploads.ts';

/** The bot's credentials for the long connection, and how the platform behaves where nobody knows for sure. */
export interface ConnectionOptions {
  botId: string;
  secret: string;
  timing?: Partial<ConnectionTiming>;
  /** Whether a req_id ends with the connection over which it came (846605 from then on). */
  forgetsRequests?: boolean;
  /** Whether a new subscription gets messages again for which there was no frame yet. */
  resendsUnread?: boolean;
  /** Whether each snapshot of a stream counts for the limits; else a stream counts once. */
  countsFrames?: boolean;
  /** Whether messages come without their `response_url`. */
  withoutResponseUrl?: boolean;
}

export interface LongConnectionParts {
  side: MessengerSide;
  redis: RedisClient;
  shown: ShownAnswers;
  interactions: Interactions;
  userIds: UserIds;
  /** Brings a message once more. */
  bringAgain(messageId: string): Promise<unknown>;
}

/** The long connection's server side, put together. */
export interface LongConnection {
  readonly sockets: BotSockets;
  readonly calls: ConnectionCalls;
  readonly answers: FrameAnswers;
  readonly uploads: Uploads;
  /** Takes up what an earlier run brought. */
  resume(): Promise<void>;
}

export function createLongConnection(options: ConnectionOptions, parts: LongConnectionParts): LongConnection {
  const { botId, secret, forgetsRequests = false, resendsUnread = false, countsFrames = false } = options;
  const { side, redis, shown, interactions, userIds, bringAgain } = parts;
  const { nowMs, trace, background } = side;
  const timing = { ...CONNECTION_TIMING, ...options.timing };
  const requests = new Requests(redis, nowMs);
  const unread = new UnreadMessages({ trace, nowMs, isResent: resendsUnread });
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
          (error) => background.failed(error, 'a message could not be brought again'),
        );
    },
    onGone(connectionId) {
      for (const messageId of unread.leftBy(connectionId)) interactions.end(messageId);
    },
  });
  const { eventAnswerMs } = timing;
  const calls = new ConnectionCalls({ sockets, requests, unread, eventAnswerMs, signal: background.signal });
  return {
    sockets,
    calls,
    answers,
    uploads,
    async resume() {
      await requests.resume();
      answers.run();
    },
  };
}

/** Another connection has taken its place. */
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
